import { writeFileSync } from 'node:fs';

/**
 * Prints what a benchmark has measured, and hands it over to `make bench`, if that runs it: a name, a title, how it is
 * measured in Markdown, and tables of figures `{ what, unit, values, target }`. A target, such as '≤ 50', is for the
 * median.
 */
export function handOver(section) {
  for (const { title, figures } of section.tables) {
    console.log(`\n${title}`);
    for (const { what, unit, values, target = '' } of figures)
      console.log(
        `  ${what}: ${values.map((value) => Number(value.toFixed(3))).join(', ')} ${unit} ${target}`,
      );
  }
  const file = process.env.MKOPO_BENCH_FIGURES;
  if (file) writeFileSync(file, JSON.stringify(section, null, 2));
}
