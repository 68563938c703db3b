//! Variables by their names.

use crate::Variable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Where variables stand, by name. It holds places alone and looks names up in the list itself: a map with names of
/// its own would be half as large as a problem of a million variables.
#[derive(Default)]
pub(crate) struct Names {
    /// One more than the place of a variable, or zero; open addressing, at most half full.
    places: Vec<u32>,
    count: usize,
}

impl Names {
    /// The place of a name in the list.
    pub(crate) fn find(&self, name: &str, variables: &[Variable]) -> Option<usize> {
        let place = *self.places.get(self.slot(name, variables)?)?;
        (place as usize).checked_sub(1)
    }

    /// Notes the last variable of the list, whose name must be new.
    pub(crate) fn add_last(&mut self, variables: &[Variable]) {
        if 2 * (self.count + 1) > self.places.len() {
            self.places = vec![0; (4 * (self.count + 1)).next_power_of_two().max(16)];
            (0..self.count).for_each(|place| self.put(place, variables));
        }
        self.put(variables.len() - 1, variables);
        self.count = variables.len();
    }

    fn put(&mut self, place: usize, variables: &[Variable]) {
        if let Some(slot) = self.slot(&variables[place].name, variables) {
            self.places[slot] = place as u32 + 1;
        }
    }

    /// Where a name is noted, or would be.
    fn slot(&self, name: &str, variables: &[Variable]) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        // The upper bits are the mixed ones.
        let mut slot = (FxBuildHasher.hash_one(name) >> 32) as usize & mask;
        while self.places[slot] > 0 && variables[self.places[slot] as usize - 1].name != name {
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_not() {
        let (mut names, mut variables) = (Names::default(), Vec::new());
        assert_eq!(names.find("x0", &variables), None);
        for number in 0..1000 {
            let name = format!("x{number}");
            assert_eq!(names.find(&name, &variables), None);
            variables.push(Variable::binary(name, 0.0));
            names.add_last(&variables);
        }
        assert!((0..1000).all(|number| names.find(&format!("x{number}"), &variables) == Some(number)));
        assert_eq!(names.find("x1000", &variables), None);
    }
}
