/** What `make bench` writes: docs/performance.json from what the benchmarks hand over, and Markdown from it. */

const ORDER = [
  'first-start',
  'next-change',
  'tests',
  'first-page',
  'lists',
  'payouts',
  'engines',
  'sandboxes',
  'pending-loans',
  'transaction-history',
];
const BEGIN = '<!-- Written by `make bench` from performance.json; change nothing here. -->';
const END = '<!-- End of what `make bench` writes. -->';

/** The sections with one of them measured again; the others keep their date and machine. */
export function withSection(sections, { tables, ...section }, run) {
  const measured = tables.map(({ title, figures }) => ({ title, figures: figures.map(summary) }));
  const place = (bench) => (ORDER.includes(bench) ? ORDER.indexOf(bench) : ORDER.length);
  return [
    ...sections.filter(({ bench }) => bench !== section.bench),
    { ...section, ...run, tables: measured },
  ].sort((one, other) => place(one.bench) - place(other.bench));
}

function summary({ what, unit = '', values, target = '' }) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  const figure = { what, unit, median, least: sorted[0], most: sorted.at(-1) };
  return rounded({ ...figure, ...(target && { target, met: isMet(median, target) }), values });
}

/** Five digits are more than any figure means. */
function rounded(figure) {
  const keep = (value) => (typeof value === 'number' ? Number(value.toPrecision(5)) : value);
  return JSON.parse(JSON.stringify(figure), (_, value) => keep(value));
}

function isMet(median, target) {
  const [sign, bound] = target.split(' ');
  if (!['≤', '≥'].includes(sign) || !Number.isFinite(Number(bound)))
    throw new Error(`'${target}' is not a target such as '≤ 3'`);
  return sign === '≤' ? median <= Number(bound) : median >= Number(bound);
}

/** The document, with everything that was written by hand kept. */
export function withFigures(document, sections) {
  const written = [BEGIN, summaryOf(sections), ...sections.map(markdownOf), END].join('\n\n');
  const [before, rest] = document.split(BEGIN);
  if (rest === undefined) return `${document.trimEnd()}\n\n${written}\n`;
  return before + written + rest.slice(rest.indexOf(END) + END.length);
}

function summaryOf(sections) {
  const figures = sections.flatMap(({ title, tables }) =>
    tables.flatMap((table) =>
      table.figures.map((figure) => ({ ...figure, where: `${title}, ${table.title}` })),
    ),
  );
  const aimed = figures.filter(({ target }) => target);
  const missed = aimed.filter(({ met }) => !met);
  const list = missed.map(
    (figure) => `- ${figure.where}: ${figure.what}, ${valueOf(figure)} (${figure.target})`,
  );
  return [
    '## Measured',
    `\`make bench\` measures what follows and writes it here and, with the value of every round, to
[performance.json](performance.json). \`make bench BENCH="lists payouts"\` measures only those again; the other sections
stay as they are. Each figure is the median of its rounds. A target is met if the median meets it: ${aimed.length - missed.length} of
${aimed.length} are${list.length > 0 ? '; these are not:' : '.'}`,
    ...(list.length > 0 ? [list.join('\n')] : []),
  ].join('\n\n');
}

function markdownOf({ title, how, date, commit, machine, load, software = [], tables }) {
  const { processor, cores, memory, system, disk, rust, node } = machine;
  const versions = [`Rust ${rust}`, `Node.js ${node}`, ...software].join(', ');
  const measured = `Measured ${date} at ${commit}: ${processor}, ${cores} cores, ${memory} GB, ${system}, temporary files on ${disk}; ${versions}. Load average before: ${load}.`;
  return [`### ${title}`, how, measured, ...tables.map(tableOf)].join('\n\n');
}

function tableOf({ title, figures }) {
  const hasTarget = figures.some(({ target }) => target);
  const head = ['', 'Median', 'Least to most', 'Rounds', ...(hasTarget ? ['Target', 'Met'] : [])];
  const rows = figures.map((figure) => [
    figure.what,
    valueOf(figure),
    figure.values.length > 1 ? `${number(figure.least)} to ${number(figure.most)}` : '–',
    figure.values.length,
    ...(hasTarget ? [figure.target ?? '', figure.target ? (figure.met ? 'yes' : '**no**') : ''] : []),
  ]);
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [`**${title}**`, '', row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

const valueOf = ({ median, unit }) => `${number(median)} ${unit}`.trim();

function number(value) {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
