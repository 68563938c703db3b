// Problems to begin with, and how their answers are read.

const exactly = (over) => ({ kind: "exactly-one", over });

const GIVEN = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";

/** A sudoku: a variable a cell, and each digit once in every row, column and box. */
function sudoku() {
  const digits = [..."123456789"];
  const cell = (row, column) => `r${row + 1}c${column + 1}`;
  const nine = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const variables = nine.flatMap((row) => nine.map((column) => {
    const digit = GIVEN[row * 9 + column];
    return { name: cell(row, column), states: digits, scores: digits.map((other) => (digit === "0" || digit === other ? 0 : "-inf")) };
  }));
  const houses = [
    ...nine.map((row) => nine.map((column) => cell(row, column))),
    ...nine.map((column) => nine.map((row) => cell(row, column))),
    ...nine.map((box) => nine.map((at) => cell(3 * Math.floor(box / 3) + Math.floor(at / 3), 3 * (box % 3) + (at % 3)))),
  ];
  return { variables, factors: houses.flatMap((house) => digits.map((digit) => exactly(house.map((name) => `${name}=${digit}`)))) };
}

/** Guests and tables: friends like to sit together, some must not. */
function seating() {
  const guests = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida"], tables = ["window", "door", "middle"];
  const likes = [["Ann", "Bob", 3], ["Ann", "Cleo", 1], ["Bob", "Eve", 2], ["Cleo", "Dan", 2.5], ["Dan", "Finn", 1], ["Eve", "Finn", 1.5], ["Gus", "Hana", 3], ["Hana", "Ida", 2], ["Ida", "Ann", 1.2], ["Finn", "Gus", 0.8]];
  const apart = [["Ann", "Dan"], ["Bob", "Gus"], ["Eve", "Ida"]];
  return {
    variables: guests.map((name) => ({ name, states: tables, scores: tables.map((table) => (name === "Ida" && table === "window" ? 1 : 0)) })),
    factors: [
      ...tables.map((table) => ({ kind: "budget", over: guests.map((name) => `${name}=${table}`), limit: 3 })),
      ...likes.flatMap(([one, other, score]) => tables.map((table) => ({ kind: "pair", over: [`${one}=${table}`, `${other}=${table}`], score }))),
      ...apart.flatMap(([one, other]) => tables.map((table) => ({ kind: "at-most-one", over: [`${one}=${table}`, `${other}=${table}`] }))),
    ],
  };
}

/** Lessons and hours: a class and a teacher have one lesson at a time, and wishes count. */
function timetable() {
  const hours = ["Mon 1", "Mon 2", "Tue 1", "Tue 2", "Wed 1"];
  const lessons = [["7a Maths", "Noether"], ["7a Physics", "Meitner"], ["7a Music", "Clara"], ["7a History", "Bede"], ["7b Maths", "Noether"], ["7b Physics", "Meitner"], ["7b Music", "Clara"], ["7b History", "Bede"], ["8a Maths", "Noether"], ["8a Physics", "Meitner"]];
  const wish = (teacher, hour) => (teacher === "Noether" && hour.endsWith("1") ? 1 : 0) + (teacher === "Clara" && hour.startsWith("Tue") ? 1.5 : 0) - (teacher === "Bede" && hour.startsWith("Mon") ? 1 : 0);
  const clash = (same) => lessons.flatMap((one, at) => lessons.slice(at + 1).filter((other) => same(one, other)).flatMap((other) => hours.map((hour) => ({ kind: "at-most-one", over: [`${one[0]}=${hour}`, `${other[0]}=${hour}`] }))));
  return {
    variables: lessons.map(([name, teacher]) => ({ name, states: hours, scores: hours.map((hour) => wish(teacher, hour)) })),
    factors: [...clash((one, other) => one[0].slice(0, 2) === other[0].slice(0, 2)), ...clash((one, other) => one[1] === other[1])],
  };
}

/** Three that exclude each other in pairs: the relaxation believes in halves. */
function triangle() {
  return {
    variables: ["a", "b", "c"].map((name) => ({ name, score: 1 })),
    factors: [["a", "b"], ["b", "c"], ["c", "a"]].map((over) => ({ kind: "at-most-one", over })),
  };
}

/** A rucksack: what to take along. */
function rucksack() {
  const things = [["tent", 9, 7], ["stove", 5, 4], ["map", 3, 1], ["rope", 4, 3], ["book", 2, 2], ["lamp", 4, 2], ["wine", 3, 3], ["camera", 6, 4]];
  return {
    variables: things.map(([name, score]) => ({ name, score })),
    factors: [{ kind: "knapsack", over: things.map(([name]) => name), costs: things.map(([, , cost]) => cost), limit: 14 }, { kind: "implies", over: ["stove", "map"] }],
  };
}

export const examples = { sudoku, seating, timetable, rucksack, triangle };
export const given = GIVEN;
