import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COLOURS } from './tokens';

const css = readFileSync(join(import.meta.dirname, 'styles.css'), 'utf8');
const [light = '', dark = ''] = css.split('.dark {');

test.for([
  ['light', light],
  ['dark', dark],
] as const)('antd has the same %s colours as the style sheet', ([theme, sheet]) => {
  for (const [name, colour] of Object.entries(COLOURS[theme]))
    expect(sheet).toContain(`--${name}: ${colour};`);
});
