//! Flat arrays: filled anew in the memory that they have, and lists of lists one after the other.

/// Vectors that are used again and again.
pub(crate) trait Refill<T> {
    /// Makes this `count` copies of a value, in the same memory.
    fn refill(&mut self, count: usize, value: T);
}

impl<T: Clone> Refill<T> for Vec<T> {
    #[inline]
    fn refill(&mut self, count: usize, value: T) {
        self.clear();
        self.resize(count, value);
    }
}

/// Lists for each vertex what touches it, at `list[first[v]..first[v + 1]]`: `touched(item)` gives vertices,
/// each with what to list there.
pub(crate) fn index<T: Copy + Default, I: Iterator<Item = (u32, T)>>(
    vertices: usize,
    items: usize,
    touched: impl Fn(usize) -> I,
    first: &mut Vec<u32>,
    list: &mut Vec<T>,
) {
    first.refill(vertices + 2, 0);
    for item in 0..items {
        touched(item).for_each(|(v, _)| first[v as usize + 2] += 1);
    }
    for i in 2..first.len() {
        first[i] += first[i - 1];
    }
    list.refill(first.last().copied().unwrap_or(0) as usize, T::default());
    for item in 0..items {
        for (v, listed) in touched(item) {
            let at = &mut first[v as usize + 1];
            list[*at as usize] = listed;
            *at += 1;
        }
    }
    first.pop();
}
