//! Connected components of a network.

use super::network::{Network, Table};

/// One connected component.
pub(crate) struct Component {
    pub(crate) network: Network,
    /// Its variables in the whole network.
    pub(crate) variables: Vec<u32>,
}

/// Connected components, each with constant zero.
pub(crate) fn components(network: &Network) -> Vec<Component> {
    let around = network.incidence();
    let count = network.sizes.len();
    let mut part_of = vec![u32::MAX; count];
    let mut local = vec![0u32; count];
    let mut parts: Vec<Component> = Vec::new();
    for first in 0..count {
        if part_of[first] != u32::MAX {
            continue;
        }
        let label = parts.len() as u32;
        part_of[first] = label;
        let mut variables = network.reach(&around, first as u32, |_, to| {
            std::mem::replace(&mut part_of[to as usize], label) == u32::MAX
        });
        variables.sort_unstable();
        for (index, &v) in variables.iter().enumerate() {
            local[v as usize] = index as u32;
        }
        parts.push(Component { network: network.part(&variables), variables });
    }
    for table in &network.tables {
        let part = &mut parts[part_of[table.scope[0] as usize] as usize];
        part.network.tables.push(Table {
            scope: table.scope.iter().map(|&v| local[v as usize]).collect(),
            scores: table.scores.clone(),
        });
    }
    parts
}
