// The search needs a page that is served: a browser lets no worker start from a disk.
if (location.protocol === "file:") {
  document.querySelectorAll(".md-search, label[for=__search]").forEach((part) => part.remove());
}
