//! Addresses.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use conveil_workbench::Failure;
use conveil_workbench::settings::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::desk::Desk;
use crate::guard::{self, Guard};
use crate::page;
use crate::view::text;

type Shared = State<Arc<Desk>>;

/// Everything that is served.
pub(crate) fn all(desk: Arc<Desk>, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/", get(async || Html(page::INDEX)))
        .route(
            "/studio.js",
            get(async || typed("text/javascript; charset=utf-8", page::SCRIPT)),
        )
        .route(
            "/studio.css",
            get(async || typed("text/css; charset=utf-8", page::STYLE)),
        )
        .route("/api/state", get(state))
        .route("/api/open", post(open))
        .route("/api/create", post(create))
        .route("/api/move", post(set))
        .route("/api/data", post(look))
        .route("/api/reset", post(reset))
        .route("/api/save", post(save))
        .route("/api/view", get(view))
        .route("/api/check", get(check))
        .route("/api/jobs", post(start))
        .route("/api/jobs/{id}", get(job))
        .route("/api/jobs/{id}/cancel", post(cancel))
        .route("/api/release/prepare", post(prepare))
        .route("/api/release", post(release))
        .route("/api/cards/{id}/{form}", get(card))
        .route("/api/ledger", get(ledger))
        .route("/api/changes", get(changes))
        .layer(middleware::from_fn_with_state(guard, guard::watch))
        .with_state(desk)
}

fn typed(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

#[derive(Serialize)]
struct Problem {
    message: String,
}

/// What a request sends; one that cannot be read is refused in words that the page can show.
struct Sent<T>(T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Sent<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Json::from_request(request, state).await {
            Ok(Json(sent)) => Ok(Sent(sent)),
            Err(refused) => Err(problem(refused.status(), refused.body_text())),
        }
    }
}

/// Work on another thread: it may take long.
async fn answered<T: Serialize + Send + 'static>(
    desk: Arc<Desk>,
    work: impl FnOnce(&Arc<Desk>) -> Result<T, Failure> + Send + 'static,
) -> Response {
    let working = desk.clone();
    match tokio::task::spawn_blocking(move || work(&working)).await {
        Ok(Ok(found)) => Json(found).into_response(),
        Ok(Err(failure)) => {
            let message = desk.without_folder(&text(&failure));
            problem(StatusCode::BAD_REQUEST, message)
        }
        Err(_) => problem(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the work ended early".into(),
        ),
    }
}

fn problem(status: StatusCode, message: String) -> Response {
    (status, Json(Problem { message })).into_response()
}

/// A change, and the state after it.
async fn changed(
    desk: Arc<Desk>,
    change: impl FnOnce(&Desk) -> Result<(), Failure> + Send + 'static,
) -> Response {
    answered(desk, move |desk| change(desk).map(|()| desk.state())).await
}

async fn state(State(desk): Shared) -> Response {
    answered(desk, move |desk| Ok(desk.state())).await
}

#[derive(Deserialize)]
struct Opening {
    path: String,
}

async fn open(State(desk): Shared, Sent(asked): Sent<Opening>) -> Response {
    changed(desk, move |desk| desk.open(&asked.path)).await
}

#[derive(Deserialize)]
struct Creating {
    model: String,
    name: String,
}

async fn create(State(desk): Shared, Sent(asked): Sent<Creating>) -> Response {
    changed(desk, move |desk| desk.create(&asked.model, &asked.name)).await
}

#[derive(Deserialize)]
struct Moving {
    name: String,
    value: Value,
}

async fn set(State(desk): Shared, Sent(asked): Sent<Moving>) -> Response {
    changed(desk, move |desk| desk.set(&asked.name, &asked.value)).await
}

#[derive(Deserialize)]
struct Looking {
    about: String,
}

async fn look(State(desk): Shared, Sent(asked): Sent<Looking>) -> Response {
    changed(desk, move |desk| desk.look(&asked.about)).await
}

async fn reset(State(desk): Shared) -> Response {
    changed(desk, |desk| desk.reset()).await
}

#[derive(Deserialize)]
struct Saving {
    name: String,
}

async fn save(State(desk): Shared, Sent(asked): Sent<Saving>) -> Response {
    changed(desk, move |desk| desk.save(&asked.name)).await
}

async fn view(State(desk): Shared) -> Response {
    answered(desk, move |desk| desk.view()).await
}

async fn check(State(desk): Shared) -> Response {
    answered(desk, |desk| desk.checked()).await
}

#[derive(Deserialize)]
struct Starting {
    kind: String,
    over: Option<String>,
}

async fn start(State(desk): Shared, Sent(asked): Sent<Starting>) -> Response {
    answered(desk, move |desk| {
        desk.start(&asked.kind, asked.over.as_deref())
    })
    .await
}

async fn job(State(desk): Shared, Path(id): Path<u64>) -> Response {
    answered(desk, move |desk| desk.jobs.shown(id)).await
}

async fn cancel(State(desk): Shared, Path(id): Path<u64>) -> Response {
    answered(desk, move |desk| desk.jobs.cancel(id)).await
}

async fn prepare(State(desk): Shared) -> Response {
    answered(desk, move |desk| desk.prepare()).await
}

#[derive(Deserialize)]
struct HandingIn {
    ticket: String,
    #[serde(default)]
    decision: bool,
}

async fn release(State(desk): Shared, Sent(asked): Sent<HandingIn>) -> Response {
    answered(desk, move |desk| {
        desk.release(&asked.ticket, asked.decision)
    })
    .await
}

async fn ledger(State(desk): Shared) -> Response {
    answered(desk, move |desk| desk.book()).await
}

/// The public card alone.
async fn card(State(desk): Shared, Path((id, form)): Path<(u64, String)>) -> Response {
    let Some(card) = desk.tickets.card(id) else {
        return problem(StatusCode::NOT_FOUND, "there is no such card".into());
    };
    let (kind, body) = match form.as_str() {
        "json" => ("application/json", card.json.to_string()),
        "text" => ("text/plain; charset=utf-8", card.text.to_string()),
        "html" => match conveil_pages::card(&card.file, &card.json) {
            Ok(page) => ("text/html; charset=utf-8", page),
            Err(failure) => return problem(StatusCode::INTERNAL_SERVER_ERROR, text(&failure)),
        },
        _ => return problem(StatusCode::NOT_FOUND, "json, html or text".into()),
    };
    let ending = if form == "text" { "txt" } else { form.as_str() };
    let place = format!("attachment; filename=\"card-{id}.{ending}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_string()),
        (header::CONTENT_DISPOSITION, place),
    ];
    (headers, body).into_response()
}

/// The revision, whenever it changes.
async fn changes(State(desk): Shared) -> Response {
    let stream = futures_of(desk.changes());
    Sse::new(stream)
        .keep_alive(KeepAlive::default())
        .into_response()
}

fn futures_of(
    receiver: tokio::sync::watch::Receiver<u64>,
) -> impl futures_core::Stream<Item = Result<Event, Infallible>> {
    tokio_stream::StreamExt::map(
        tokio_stream::wrappers::WatchStream::new(receiver),
        |revision| Ok(Event::default().data(revision.to_string())),
    )
}
