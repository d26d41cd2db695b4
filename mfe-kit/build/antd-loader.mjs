/**
 * Replaces what antd generates in the browser by what was generated at build time: the styles of a component by a
 * style sheet, the theme's tokens by their values. And loads when it is used what most pages do not use: the icons
 * of a button that is loading and of a field that can be cleared.
 */
import { join } from 'node:path';
import { antdStyles, THEME, TOKENS_FILE, VARIABLES } from './antd-styles.mjs';

/** The build's cache is valid while these are the same. */
const WRITTEN_FROM = [
  ...['antd-loader.mjs', 'antd-styles.mjs'].map((file) => join(import.meta.dirname, file)),
  TOKENS_FILE,
];

const SHEET = join(THEME, 'antd.css');

const WHOLE = '?whole';

/** What a component gets from the module of its styles. */
const STANDS_FOR = {
  genStyleHooks: `() => ['', '${VARIABLES}']`,
  genComponentStyleHook: `() => ''`,
  genSubStyleComponent: `() => null`,
};

export default function (source) {
  if (this.resourceQuery === WHOLE) return source;
  const done = this.async();
  for (const dependency of WRITTEN_FROM) this.addDependency(dependency);
  const [, file] = /\/(?:es|src|dist)\/((?!.*\/(?:es|src|dist)\/).*)$/.exec(this.resourcePath);
  const names = new URLSearchParams(this.resourceQuery).get('of')?.split(' ');
  antdStyles().then((written) => done(null, replaced(file, source, names, written)), done);
}

function replaced(file, source, names, { styles, tokens }) {
  switch (file) {
    case 'theme/antd.css':
      return names.map((name) => styles[name]).join('');
    case 'theme/styles.css':
      return styles.base + source;
    case 'theme/util/genStyleUtils.js':
      return source.slice(source.indexOf('export const genCssVar'));
    case 'theme/internal.js':
    case 'theme/useToken.js':
      return `import { useTheme } from 'mfe-kit';
        const TOKENS = ${JSON.stringify(tokens)};
        export function useToken() { return [null, TOKENS[useTheme()], '']; }
        export default useToken;`;
    case 'config-provider/index.js':
      return `export * from './context';
        export default ({ children }) => children;`;
    // The effect is switched off (ThemeProvider).
    case '_util/wave/index.js':
      return 'export default ({ children }) => children ?? null;';
    case 'button/DefaultLoadingIcon.js':
      return whenUsed('DefaultLoadingIcon', 'Boolean(loading)');
    case 'icons/CloseCircleFilled.js':
      return whenUsed('CloseCircleFilled', 'true');
    default:
      return styleModule(file, source, styles);
  }
}

/** A module whose exports are the hooks that add a component's styles. */
function styleModule(file, source, styles) {
  const hooks = [...source.matchAll(/export (default|const \w+ =) (gen\w+)\((\[[^\]]*\]|'\w+')/g)];
  const names = hooks.map(([, , , name]) => name.match(/\w+/g).join('-'));
  const missing = names.find((name) => styles[name] === undefined);
  if (missing) throw new Error(`antd's style ${missing} of ${file} was not written`);
  return [
    `import ${JSON.stringify(`${SHEET}?of=${names.join('+')}`)};`,
    ...hooks.map(([, exported, kind]) => `export ${exported} ${STANDS_FOR[kind]};`),
  ].join('\n');
}

/** A component in a file of its own, which is loaded when it is first used. */
function whenUsed(name, isUsed) {
  return `import { createElement, lazy, Suspense, useRef } from 'react';
    const Whole = lazy(() => import('./${name}.js${WHOLE}'));
    export default function ${name}(props) {
      const wasUsed = useRef(false);
      wasUsed.current ||= ${isUsed.replace('loading', 'props.loading')};
      return wasUsed.current ? createElement(Suspense, null, createElement(Whole, props)) : null;
    }`;
}
