/** The sections of the page about the kits. */

/**
 * The purpose of each kit, with the commands that install it, or that build it if its package is not in
 * `names`, the packages that are there.
 */
export function sections(names) {
  const at = 'http://127.0.0.1:8080/kit/';
  const slices = names.findLast((name) => name.startsWith('mfe-kit-'));
  const pytest = names.some((name) => name.endsWith('.whl'))
    ? [
        'For the test runner of Python: a sandbox for each worker, and verbs for all that the console can do.',
        'python3 -m venv .venv',
        `.venv/bin/pip install --find-links ${at} mkopo-test`,
      ]
    : [
        'Its package is not built yet. This command builds it in the repository of the portal, and needs Python 3.11; ' +
          'the portal may go on running. Then load this page again.',
        'make testkit',
      ];
  return [
    section(
      'Tests with Playwright',
      'For the test runner of Node.js: a sandbox for each worker, and verbs for all that the console can do.',
      `npm install --save-dev @playwright/test ${at}mkopo-test.tgz`,
    ),
    section('Tests with pytest', ...pytest),
    section(
      'Slices',
      'For a part of the portal in a repository of its own. <a href="gallery/">The parts of mfe-kit</a> shows what screens are made of.',
      `npx --package ${at}${slices} mfe-kit new repayments`,
    ),
  ];
}

function section(title, about, ...commands) {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return [
    `<section aria-labelledby="${id}">`,
    `<h2 id="${id}">${title}</h2>`,
    `<p>${about}</p>`,
    ...commands.map((command) => `<div class="command"><code>${command}</code></div>`),
    '</section>',
  ].join('\n');
}
