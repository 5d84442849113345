//! The cheapest line between subject and surroundings: a minimum cut through the grid of pixels.

use std::collections::VecDeque;

/// Capacities between each pixel and its right, lower, lower right and lower left neighbour.
pub(super) type Edges = Vec<[f32; 4]>;

/// A flow network over pixels; flow runs from the subject's side to the other.
pub(super) struct Grid {
    width: usize,
    /// Room left towards each of the eight neighbours.
    room: Vec<[f32; 8]>,
    /// What the pixel can still take from the subject's side (positive) or give to the other (negative).
    excess: Vec<f32>,
}

const STEPS: [(isize, isize); 8] = [
    (1, 0),
    (0, 1),
    (1, 1),
    (-1, 1),
    (-1, 0),
    (0, -1),
    (-1, -1),
    (1, -1),
];
const LIMIT: f32 = 1e-4;
/// Weight of the line's length against the colours.
const STIFFNESS: f32 = 7.0;

impl Grid {
    /// Alike neighbours are dear to part, unlike ones cheap.
    pub(super) fn edges(colours: &[[f32; 3]], width: usize, height: usize) -> Edges {
        let far =
            |one: usize, other: usize| crate::palette::distance(&colours[one], &colours[other]);
        let pairs = |at: usize| {
            let (x, y) = ((at % width) as isize, (at / width) as isize);
            std::array::from_fn::<_, 4, _>(|step| {
                let (dx, dy) = STEPS[step];
                let (x, y) = (x + dx, y + dy);
                let inside = x >= 0 && x < width as isize && y < height as isize;
                inside.then(|| far(at, y as usize * width + x as usize))
            })
        };
        let all: Vec<[Option<f32>; 4]> = (0..colours.len()).map(pairs).collect();
        let (sum, count) = all
            .iter()
            .flatten()
            .flatten()
            .fold((0.0, 0.0), |(sum, count), far| {
                (sum + f64::from(*far), count + 1.0)
            });
        let usual = (sum / f64::max(count, 1.0)).max(1.0) as f32;
        all.iter()
            .map(|four| {
                std::array::from_fn(|step| {
                    let length = if step < 2 {
                        1.0
                    } else {
                        std::f32::consts::FRAC_1_SQRT_2
                    };
                    four[step].map_or(0.0, |far| STIFFNESS * length * (-far / (2.0 * usual)).exp())
                })
            })
            .collect()
    }

    /// A network with a cost for each pixel to lie outside and inside: (cost of outside, cost of inside).
    pub(super) fn new(width: usize, edges: &Edges, costs: &[(f32, f32)]) -> Self {
        let mut room = vec![[0.0; 8]; edges.len()];
        for (at, four) in edges.iter().enumerate() {
            for (step, &capacity) in four
                .iter()
                .enumerate()
                .filter(|(_, capacity)| **capacity > 0.0)
            {
                room[at][step] = capacity;
                room[offset(at, step, width)][step + 4] = capacity;
            }
        }
        let excess = costs
            .iter()
            .map(|(outside, inside)| outside - inside)
            .collect();
        Self {
            width,
            room,
            excess,
        }
    }

    /// Which pixels lie on the subject's side of the cheapest cut.
    pub(super) fn cut(mut self) -> Vec<bool> {
        loop {
            let level = self.levels();
            let mut tried = vec![0_u8; self.excess.len()];
            let mut moved = 0.0;
            for start in 0..self.excess.len() {
                while self.excess[start] > LIMIT && level[start] == 0 {
                    let pushed = self.push(start, &level, &mut tried);
                    if pushed <= LIMIT {
                        break;
                    }
                    moved += pushed;
                }
            }
            if moved <= LIMIT {
                return self
                    .levels()
                    .iter()
                    .map(|level| *level != u32::MAX)
                    .collect();
            }
        }
    }

    /// Steps from the nearest pixel with something to give, along edges with room.
    fn levels(&self) -> Vec<u32> {
        let mut level = vec![u32::MAX; self.excess.len()];
        let mut queue = VecDeque::new();
        for (at, _) in self
            .excess
            .iter()
            .enumerate()
            .filter(|(_, excess)| **excess > LIMIT)
        {
            level[at] = 0;
            queue.push_back(at);
        }
        while let Some(at) = queue.pop_front() {
            for (step, room) in self.room[at].iter().enumerate() {
                if *room > LIMIT {
                    let next = offset(at, step, self.width);
                    if level[next] == u32::MAX {
                        level[next] = level[at] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        level
    }

    /// Pushes flow along one path that goes up the levels to a pixel that takes it; gives how much went.
    fn push(&mut self, start: usize, level: &[u32], tried: &mut [u8]) -> f32 {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        loop {
            if self.excess[at] < -LIMIT {
                let most = path.iter().fold(
                    self.excess[start].min(-self.excess[at]),
                    |most, &(from, step)| most.min(self.room[from][step]),
                );
                for &(from, step) in &path {
                    self.room[from][step] -= most;
                    self.room[offset(from, step, self.width)][(step + 4) % 8] += most;
                }
                self.excess[start] -= most;
                self.excess[at] += most;
                return most;
            }
            let step = usize::from(tried[at]);
            if step < 8 {
                if self.room[at][step] > LIMIT {
                    let next = offset(at, step, self.width);
                    if level[next] == level[at] + 1 && tried[next] < 8 {
                        path.push((at, step));
                        at = next;
                        continue;
                    }
                }
                tried[at] += 1;
            } else if let Some((from, _)) = path.pop() {
                tried[from] += 1;
                at = from;
            } else {
                return 0.0;
            }
        }
    }
}

/// The neighbour in a direction; only asked for where an edge has room, which no border has.
fn offset(at: usize, step: usize, width: usize) -> usize {
    let (dx, dy) = STEPS[step];
    (at as isize + dy * width as isize + dx) as usize
}
