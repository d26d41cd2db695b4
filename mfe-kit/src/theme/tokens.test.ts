import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COLOURS } from './tokens';

const css = readFileSync(join(import.meta.dirname, 'styles.css'), 'utf8');

test('antd has the same colours as the style sheet', () => {
  const { light, dark } = COLOURS;
  for (const name of Object.keys(light) as (keyof typeof light)[])
    expect(css).toContain(`--${name}: light-dark(${light[name]}, ${dark[name]});`);
});
