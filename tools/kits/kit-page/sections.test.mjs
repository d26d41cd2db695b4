import { expect, test } from 'vitest';
import { sections } from './sections.mjs';

const packages = ['mfe-kit-1.0.0.tgz', 'mkopo-test-1.0.0.tgz'];
const pip = 'pip install --find-links http://127.0.0.1:8080/kit/ mkopo-test';

test('where there is no package for pytest the page says how to build it, and names no command that would fail', () => {
  const page = sections(packages).join('\n');
  expect(page).not.toContain('pip install');
  expect(page).toContain('<code>make testkit</code>');
});

test('where there is one the page says how to install it', () => {
  const page = sections([...packages, 'mkopo_test-1.0.0-py3-none-any.whl']).join('\n');
  expect(page).toContain(pip);
  expect(page).not.toContain('make testkit');
});
