/** The Markdown of what `make bench` measures. Each benchmark has a section in docs/performance.md, between two marks. */

/** The page with the section of one benchmark written anew; everything else stays as it is. */
export function withSection(page, section, run) {
  const [begin, end] = [`<!-- Written by make bench: ${section.bench} -->`, `<!-- End: ${section.bench} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no place for '${section.bench}'`);
  return `${page.slice(0, from)}${begin}\n\n${markdownOf(section, run)}\n\n${page.slice(to)}`;
}

function markdownOf({ title, how, software = [], tables }, { date, commit, machine, load }) {
  const { processor, cores, memory, system, disk, rust, node } = machine;
  const versions = [`Rust ${rust}`, `Node.js ${node}`, ...software].join(', ');
  const measured = `Measured ${date} at ${commit}: ${processor}, ${cores} cores, ${memory} GB, ${system}, temporary files on ${disk}; ${versions}. Load average before: ${load}.`;
  return [`### ${title}`, how, measured, ...tables.map(tableOf)].join('\n\n');
}

function tableOf({ title, figures }) {
  const hasTarget = figures.some(({ target }) => target);
  const head = ['', 'Median', 'Least to most', 'Rounds', ...(hasTarget ? ['Target', 'Met'] : [])];
  const rows = figures.map(({ what, unit = '', values, target = '' }) => {
    const sorted = values.toSorted((one, other) => one - other);
    const middle = (sorted.length - 1) / 2;
    const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
    const spread = values.length > 1 ? `${number(sorted[0])} to ${number(sorted.at(-1))}` : '–';
    const met = target && (isMet(median, target) ? 'yes' : '**no**');
    return [
      what,
      `${number(median)} ${unit}`.trim(),
      spread,
      values.length,
      ...(hasTarget ? [target, met] : []),
    ];
  });
  const row = (cells) => `| ${cells.join(' | ')} |`;
  return [`**${title}**`, '', row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

function isMet(median, target) {
  const [sign, bound] = target.split(' ');
  if (!['≤', '≥'].includes(sign) || !Number.isFinite(Number(bound)))
    throw new Error(`'${target}' is not a target such as '≤ 3'`);
  return sign === '≤' ? median <= Number(bound) : median >= Number(bound);
}

function number(value) {
  const size = Math.abs(value);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
