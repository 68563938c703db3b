//! How high arcs are drawn, so that those inside others are below them.

/// An arc of a tree; the root has no head.
#[derive(Debug)]
pub struct Arc {
    pub head: Option<usize>,
    pub child: usize,
    pub label: String,
}

impl Arc {
    /// Its left and right word, unless it comes from the root.
    pub fn ends(&self) -> Option<(usize, usize)> {
        let head = self.head?;
        Some((head.min(self.child), head.max(self.child)))
    }

    /// Its left and right end on a scale with three points for each word: arcs to the left leave a head at
    /// the first, arrows come down at the second, arcs to the right leave at the third. So no two lines lie
    /// on each other.
    fn points(&self) -> Option<(usize, usize)> {
        let (left, right) = self.ends()?;
        let to_right = self.child == right;
        Some(if to_right { (3 * left + 2, 3 * right + 1) } else { (3 * left + 1, 3 * right) })
    }
}

/// The height of each arc, from 1 up: above all shorter ones that it spans, touches or crosses. The arc from
/// the root is above all.
pub fn heights(arcs: &[Arc]) -> Vec<usize> {
    let mut order: Vec<(usize, (usize, usize))> =
        arcs.iter().enumerate().filter_map(|(number, arc)| Some((number, arc.points()?))).collect();
    order.sort_by_key(|&(number, (left, right))| (right - left, number));
    let mut heights = vec![0; arcs.len()];
    for (place, &(number, (left, right))) in order.iter().enumerate() {
        let below = order[..place].iter().filter(|(_, (start, end))| *start <= right && left <= *end);
        heights[number] = 1 + below.map(|&(other, _)| heights[other]).max().unwrap_or(0);
    }
    let highest = heights.iter().max().copied().unwrap_or(0);
    for (arc, height) in arcs.iter().zip(&mut heights) {
        if arc.head.is_none() {
            *height = highest + 1;
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_arcs_are_higher() {
        let arc = |head: usize, child: usize| Arc {
            head: head.checked_sub(1),
            child: child - 1,
            label: String::new(),
        };
        // Two arcs to the right of 1, one nested in them, one to the left of it, the root.
        let arcs = [arc(1, 4), arc(1, 2), arc(4, 3), arc(3, 5), arc(0, 1)];
        assert_eq!(heights(&arcs), [3, 1, 1, 2, 4]);
    }
}
