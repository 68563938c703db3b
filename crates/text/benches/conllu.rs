//! Reading and writing CoNLL-U from memory, in bytes a second, with a plain copy as the floor.
//!
//! `CONLLU=FILE cargo bench -p consonant-text --bench conllu` measures a file instead of the generated text.

use std::hint::black_box;

use consonant_text::{Layer, Sentence, SentenceReader};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn generated() -> Vec<u8> {
    let row = [
        "1\tPresident\tPresident\tPROPN\tNNP\tNumber=Sing\t2\tnmod:desc\t2:nmod:desc\t_\n",
        "2\tBøsh\tBøsh\tPROPN\tNNP\tNumber=Sing\t3\tnsubj\t3:nsubj\t_\n",
        "3\tnominated\tnominate\tVERB\tVBD\tMood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin\t0\troot\t0:root\t_\n",
        "4\ttwo\ttwo\tNUM\tCD\tNumForm=Word|NumType=Card\t5\tnummod\t5:nummod\t_\n",
        "5\tindividuals\tindividual\tNOUN\tNNS\tNumber=Plur\t3\tobj\t3:obj\tSpaceAfter=No\n",
        "6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_\n\n",
    ]
    .concat();
    (0..20_000).flat_map(|i| format!("# sent_id = generated-{i}\n{row}").into_bytes()).collect()
}

fn read(bytes: &[u8]) -> usize {
    let mut reader = SentenceReader::conllu(bytes, "bench");
    let mut sentence = Sentence::new();
    let mut words = 0;
    while reader.read(&mut sentence).expect("valid CoNLL-U") {
        words += sentence.len();
    }
    words
}

fn conllu(criterion: &mut Criterion) {
    let bytes = match std::env::var_os("CONLLU") {
        Some(path) => std::fs::read(path).expect("CONLLU names a readable file"),
        None => generated(),
    };
    let mut group = criterion.benchmark_group("conllu");
    group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
    let mut out = Vec::with_capacity(bytes.len() * 2);
    group.bench_function("copy", |bencher| {
        bencher.iter(|| {
            out.clear();
            out.extend_from_slice(black_box(&bytes));
        });
    });
    group.bench_function("read", |bencher| bencher.iter(|| read(black_box(&bytes))));
    let sentences: Vec<Sentence> = SentenceReader::conllu(&bytes[..], "bench")
        .map(|sentence| sentence.expect("valid CoNLL-U"))
        .collect();
    group.bench_function("read all into memory", |bencher| {
        bencher.iter(|| SentenceReader::conllu(black_box(&bytes[..]), "bench").count());
    });
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            out.clear();
            for sentence in &sentences {
                sentence.write(&mut out).expect("memory");
            }
        });
    });
    let mut edited = sentences;
    for sentence in &mut edited {
        for word in 0..sentence.len() {
            sentence.set(word, Layer::Upos, "X").expect("a column");
        }
    }
    group.bench_function("write edited", |bencher| {
        bencher.iter(|| {
            out.clear();
            for sentence in &edited {
                sentence.write(&mut out).expect("memory");
            }
        });
    });
    group.finish();
}

criterion_group!(benches, conllu);
criterion_main!(benches);
