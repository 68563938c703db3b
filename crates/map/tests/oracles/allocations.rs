//! After warm-up, an oracle allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::checker::{Random, Style};
use consonant_map::oracle::Oracle;
use consonant_map::oracle::arborescence::{Arborescence, RootChildren};
use consonant_map::oracle::cut::MinimumCut;
use consonant_map::oracle::dense::DenseTable;
use consonant_map::oracle::sequence::Sequence;
use consonant_map::oracle::tree_budget::BudgetedTree;
use consonant_map::oracle::tree_labelling::TreeLabelling;
use consonant_map::{Ad3, Graph};

/// The system's allocator, with a count of the requests of each thread.
struct Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every request is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the pointer came from `System`, with this layout.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn requests_after_warm_up<O: Oracle>(oracle: &O) -> usize {
    let mut random = Random(10);
    let scores: Vec<_> = (0..40).map(|_| random.scores(oracle.links(), Style::Smooth)).collect();
    let (mut workspace, mut best) = (O::Workspace::default(), O::Configuration::default());
    let mut marginals = vec![0.0; oracle.links()];
    let mut run = || {
        for scores in &scores {
            oracle.maximize(scores, &mut workspace, &mut best);
            oracle.score(scores, &best);
            oracle.add_marginals(&best, 1.0, &mut marginals);
            oracle.overlap(&best, &best);
        }
    };
    run();
    let before = REQUESTS.get();
    run();
    REQUESTS.get() - before
}

#[test]
fn nothing_is_allocated_after_warm_up() {
    let mut random = Random(11);
    let mut table = |size| random.scores(size, Style::Smooth);
    assert_eq!(requests_after_warm_up(&DenseTable::new(&[5, 5], table(25)).unwrap()), 0);
    assert_eq!(requests_after_warm_up(&DenseTable::new(&[3, 9, 4], table(108)).unwrap()), 0);
    assert_eq!(requests_after_warm_up(&Sequence::uniform(9, 5, table(25)).unwrap()), 0);
    let second = Sequence::uniform_second_order(9, 5, table(25), table(125)).unwrap();
    assert_eq!(requests_after_warm_up(&second), 0);
    let star: Vec<_> = (1..9).map(|node| (0, node)).collect();
    assert_eq!(requests_after_warm_up(&TreeLabelling::new(&[4; 9], &star, &table(128)).unwrap()), 0);
    for root_children in [RootChildren::Any, RootChildren::One] {
        let complete = Arborescence::complete(20, root_children).unwrap();
        assert_eq!(requests_after_warm_up(&complete), 0);
        // So many nodes that the arcs are kept in heaps: a ring, both ways.
        let nodes = 3000;
        let neighbours = |node: usize| [(0, node), (node % 2999 + 1, node), ((node + 2997) % 2999 + 1, node)];
        let sparse: Vec<_> = (1..nodes).flat_map(neighbours).collect();
        let sparse = Arborescence::new(nodes, &sparse, root_children).unwrap();
        assert_eq!(requests_after_warm_up(&sparse), 0);
    }
    let chain: Vec<_> = (0..30usize).map(|node| node.checked_sub(1)).collect();
    assert_eq!(requests_after_warm_up(&BudgetedTree::new(&chain, &[2; 30], 9).unwrap()), 0);
    let ring: Vec<_> = (0..30).map(|link| (link, (link + 1) % 30, 0.5)).collect();
    assert_eq!(requests_after_warm_up(&MinimumCut::new(30, &ring).unwrap()), 0);
}

/// Trees with pairs of arcs, as parsers have them: the same kinds of factors in graphs of another size each
/// time.
fn fill(graph: &mut Graph, nodes: usize, random: &mut Random) {
    graph.clear();
    let mut tree =
        graph.spare_oracle().unwrap_or_else(|| Arborescence::complete(2, RootChildren::One).unwrap());
    tree.rebuild_complete(nodes, RootChildren::One).unwrap();
    let scores = random.scores(tree.links() + tree.links() / 2, Style::Smooth);
    let (own, pairs) = scores.split_at(tree.links());
    let arcs = graph.binaries(own).unwrap();
    graph.oracle(tree, &arcs).unwrap();
    for (pair, &score) in arcs.chunks_exact(2).zip(pairs) {
        graph.pair(pair[0], pair[1], score).unwrap();
    }
}

#[test]
fn a_graph_that_is_filled_again_is_solved_in_the_same_memory_and_to_the_same_bits() {
    let (mut graph, mut solver) = (Graph::new(), Ad3::default());
    let (mut again, mut anew) = (0, 0);
    for pass in 0..2 {
        let mut random = Random(12);
        for round in 0..16 {
            fill(&mut graph, 9 - round % 8, &mut random);
            let start = REQUESTS.get();
            let solution = solver.solve(&graph);
            let middle = REQUESTS.get();
            let other = Ad3::default().solve(&graph);
            if pass == 1 {
                again += middle - start;
                anew += REQUESTS.get() - middle;
            }
            assert_eq!(solution.assignment(), other.assignment());
            assert_eq!(solution.marginals, other.marginals);
            assert_eq!(solution.certificate.bound().to_bits(), other.certificate.bound().to_bits());
        }
    }
    // What is left is the solutions themselves, and what rounding takes for a moment.
    assert!(again * 5 < anew, "{again} requests, where a new solver makes {anew}");
}
