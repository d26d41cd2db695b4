/**
 * antd's styles, written at build time for both themes. At run time antd would generate them in the browser, with
 * 30 KB of code and a tenth of a second of a phone's time before the first paint.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { transform } from '@swc/core';

const require = createRequire(import.meta.url);
const ofAntd = createRequire(require.resolve('antd'));

/** The kit's theme: its sources, or what the package has of them. */
export const THEME = join(
  import.meta.dirname,
  existsSync(join(import.meta.dirname, '../src')) ? '../src/theme' : '../dist/theme',
);
export const TOKENS_FILE = ['tokens.ts', 'tokens.js'].map((file) => join(THEME, file)).find(existsSync);

/** A component of antd's CommonJS build: only a bundler resolves the imports of the other. */
const part = (name) => require(`antd/lib/${name}`).default;

const FLAT = { primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none' };

/** The class of every element that has antd's variables. */
export const VARIABLES = 'mkopo';

/** The tokens that antd's components read at run time, besides their styles. */
const TOKENS = [
  'colorBgContainer',
  'colorFill',
  'colorFillQuaternary',
  'colorFillTertiary',
  'controlHeight',
  'zIndexPopupBase',
];

/**
 * What no screen has: other directions, colours that are not our theme's, looks that are not our design's, and
 * joined buttons and inputs (numbers have add-ons).
 */
const NOT_OFFERED = new RegExp(
  [
    /-rtl|textarea|ant-input-search/,
    /ant-btn-color-(?!default|primary|dangerous|link)/,
    /ant-btn-(variant-(dashed|filled)|dashed|background-ghost|group)/,
    /ant-input-(filled|borderless|underlined|group)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
const NOT_JOINED = /^(Button|Input-)/;

let written;

/**
 * The styles by antd's name of the component (`Button`, `Input-Shared`), where `base` is what all need: links, icons
 * and the variables; and the tokens of each theme.
 */
export function antdStyles() {
  return (written ??= write());
}

async function write() {
  const { antdTokens } = await tokensModule();
  const [light, dark] = ['light', 'dark'].map((theme) => drawn(themeOf(theme, antdTokens(theme))));
  const styles = {};
  for (const [name, css] of light.styles) {
    if (dark.styles.get(name) !== css)
      throw new Error(`antd's ${name} has a style that differs between themes`);
    styles[name] = css;
  }
  const parts = Object.values(styles).join('');
  styles.base = styles['ant-design-icons'] + styles.Shared;
  light.variables.forEach(({ name, selector, values }, at) => {
    const used = [...values].filter(([name]) => isUsed(name, parts, light.variables));
    const dim = used.flatMap(([name, value]) => {
      const other = dark.variables[at].values.get(name);
      return other === value ? [] : [[name, other]];
    });
    // The theme's variables are for all components, the others for one.
    const place = Object.keys(styles).find((part) => part === name || part.startsWith(`${name}-`)) ?? 'base';
    styles[place] += rule(selector, used) + rule(`.dark ${selector}`, dim);
  });
  return { styles, tokens: { light: light.tokens, dark: dark.tokens } };
}

/** Our theme for antd; the last step of the algorithm restores our colours where antd's derivation has changed them. */
function themeOf(name, token) {
  const { darkAlgorithm, defaultAlgorithm } = part('theme');
  return {
    cssVar: { key: VARIABLES },
    hashed: false,
    token,
    algorithm: [
      name === 'dark' ? darkAlgorithm : defaultAlgorithm,
      (seed, derived) => ({ ...defaultAlgorithm(seed), ...derived, ...token }),
    ],
    components: {
      Button: { ...FLAT, fontWeight: 500, contentFontSizeLG: 14 },
      Input: { inputFontSizeLG: 14 },
    },
  };
}

/** Draws each component once, and reads what antd has generated for it. */
function drawn(theme) {
  const { createElement } = require('react');
  const { renderToString } = require('react-dom/server');
  const { createCache, extractStyle, StyleProvider } = ofAntd('@ant-design/cssinjs');
  const cache = createCache();
  const styled = (name, prefix) =>
    createElement(function Styled() {
      part(`${name}/style`)(prefix, `${prefix}-css-var`);
      return null;
    });
  const { Compact, Addon } = part('space');
  renderToString(
    createElement(
      StyleProvider,
      { cache },
      createElement(
        part('config-provider'),
        { theme },
        createElement(Compact, null, createElement(part('button'), null, 'Pay out')),
        createElement(Addon),
        ...['checkbox', 'input', 'input-number', 'select', 'switch', 'empty', 'skeleton'].map((name) =>
          createElement(part(name), { key: name }),
        ),
        styled('modal', 'ant-modal'),
      ),
    ),
  );

  const entries = [...cache.cache].map(([key, value]) => {
    const one = createCache();
    one.cache.set(key, value);
    const [kind, name] = key.split('%').filter(Boolean);
    const css = extractStyle(one, { plain: true }).replace(/\.data-ant-cssinjs-cache-path\{[^}]*\}$/, '');
    return { kind, name, css: offered(css, NOT_JOINED.test(name) ? /-compact/ : NOT_OFFERED) };
  });
  const { getDesignToken } = part('theme');
  const tokens = getDesignToken(theme);
  return {
    tokens: Object.fromEntries(TOKENS.map((name) => [name, tokens[name]])),
    styles: new Map(
      entries.filter(({ kind }) => kind === 'style').map(({ name, css }) => [shortName(name), css]),
    ),
    variables: entries
      .filter(({ kind, css }) => kind !== 'style' && css)
      .map(({ name, css }) => ({ name, ...declarations(css) })),
  };
}

/** antd repeats the name of a component that has only one style. */
const shortName = (name) => name.replace(/^(\w+)-\1$/, '$1');

/** The rules of a style sheet without the selectors of what is not offered. */
function offered(css, left) {
  return css.replaceAll(/([^{}]+)(\{[^{}]*\})/g, (rule, selectors, body) => {
    if (selectors.startsWith('@')) return rule;
    const kept = selectors
      .match(/(?:\([^)]*\)|[^,(])+/g)
      .filter((selector) => !NOT_OFFERED.test(selector) && !left.test(selector));
    return kept.length === 0 ? '' : kept.join(',') + body;
  });
}

/** A rule of variables, as its selector and their values. */
function declarations(css) {
  const [, selector, body] = /^([^{]+)\{([^}]*)\}$/.exec(css);
  const values = body
    .split(/;(?=--|$)/)
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]);
  return { selector, values: new Map(values) };
}

/** Whether a style uses a variable, or a variable in use does. */
function isUsed(name, parts, variables) {
  const use = new RegExp(`var\\(${name}[,)]`);
  if (use.test(parts)) return true;
  return variables.some(({ values }) =>
    [...values].some(
      ([other, value]) => other !== name && use.test(value) && isUsed(other, parts, variables),
    ),
  );
}

const rule = (selector, values) =>
  values.length === 0 ? '' : `${selector}{${values.map((entry) => entry.join(':')).join(';')}}`;

/** The tokens' own module, which is TypeScript. */
async function tokensModule() {
  const { code } = await transform(await readFile(TOKENS_FILE, 'utf8'), {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
  });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
