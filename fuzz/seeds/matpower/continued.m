function s = two()   % a struct of another name
s.version = "2"; s.baseMVA = 1e2;
s.bus = [ 7, 3, 0, 0, 0, 0, 1, 1, 0, ... the rest below
  230, 1, 1.1, 0.9; 8 1 .5 0 0 0 1 1 0 230 1 1.1 0.9 ];
s.gen = [7 0 0 1 -1 1 100 1 +5 -5e0]
s.gencost = [ 2 0 0 3 0 4 0; 2 0 0 3 9 9 9 ];
s.branch = [ 7 8 0 .25 0 0 0 0 0 0 1 0 0 0 0 0 0 ];
s.dcline = [ 7 8 0 10 10 0 0 1 1 0 10 0 0 0 0 0 0 ];
s.note.text = 'a % b'; s.matrix = [1 2; 3 4]';
end
