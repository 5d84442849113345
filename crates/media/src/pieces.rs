//! Which places of a grid hang together.

/// Connected places of one kind.
pub fn pieces(inside: &[bool], width: usize, height: usize, kind: bool) -> Vec<Vec<usize>> {
    let mut seen = vec![false; inside.len()];
    let mut out = Vec::new();
    for start in 0..inside.len() {
        if seen[start] || inside[start] != kind {
            continue;
        }
        seen[start] = true;
        let mut piece = vec![start];
        let mut next = 0;
        while next < piece.len() {
            let at = piece[next];
            next += 1;
            let (x, y) = (at % width, at / width);
            let around = [
                (x > 0).then(|| at - 1),
                (x + 1 < width).then_some(at + 1),
                (y > 0).then(|| at - width),
                (y + 1 < height).then_some(at + width),
            ];
            for near in around.into_iter().flatten() {
                if !seen[near] && inside[near] == kind {
                    seen[near] = true;
                    piece.push(near);
                }
            }
        }
        out.push(piece);
    }
    out
}
