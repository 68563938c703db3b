//! Connected components of a network.

use super::network::{Network, Table};

/// One connected component.
pub(super) struct Part {
    pub(super) network: Network,
    /// Its variables in the whole network.
    pub(super) variables: Vec<u32>,
}

/// Connected components, each with constant zero.
pub(super) fn components(network: &Network) -> Vec<Part> {
    let around = network.incidence();
    let count = network.sizes.len();
    let mut part_of = vec![u32::MAX; count];
    let mut local = vec![0u32; count];
    let mut parts: Vec<Part> = Vec::new();
    for first in 0..count {
        if part_of[first] != u32::MAX {
            continue;
        }
        let label = parts.len() as u32;
        let mut variables = vec![first as u32];
        part_of[first] = label;
        let mut next = 0;
        while next < variables.len() {
            for &index in &around[variables[next] as usize] {
                for &u in &network.tables[index as usize].scope {
                    if part_of[u as usize] == u32::MAX {
                        part_of[u as usize] = label;
                        variables.push(u);
                    }
                }
            }
            next += 1;
        }
        variables.sort_unstable();
        for (index, &v) in variables.iter().enumerate() {
            local[v as usize] = index as u32;
        }
        parts.push(Part {
            network: Network {
                sizes: variables.iter().map(|&v| network.sizes[v as usize]).collect(),
                constant: 0.0,
                unary: variables.iter().map(|&v| network.unary[v as usize].clone()).collect(),
                tables: Vec::new(),
            },
            variables,
        });
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
