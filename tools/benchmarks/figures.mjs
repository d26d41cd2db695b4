import { writeFileSync } from 'node:fs';

/** Prints the figures of each table. */
export function show(tables) {
  for (const { title, figures } of tables) {
    console.log(`\n${title}`);
    for (const { what, unit, values, target = '' } of figures)
      console.log(
        `  ${what}: ${values.map((value) => Number(value.toFixed(3))).join(', ')} ${unit} ${target}`,
      );
  }
}

/**
 * Hands over what a benchmark has measured to `make bench`, if that runs it: a name, a title, how it is measured in
 * Markdown, and tables of figures `{ what, unit, values, target }`. A target, such as '≤ 50', is for the median.
 */
export function handOver(section) {
  const file = process.env.MKOPO_BENCH_FIGURES;
  if (file) writeFileSync(file, JSON.stringify(section, null, 2));
}
