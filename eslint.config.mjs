import js from '@eslint/js';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import globals from 'globals';
import { basename, dirname } from 'node:path';
import tseslint from 'typescript-eslint';
import { sliceNames } from './tools/portal/slices.mjs';

const SLICES = [...sliceNames(), 'mfe-kit/template'];

/** A component's file has the component's name, a hook's the hook's; other files and folders are in kebab-case. */
const fileNames = {
  create: (context) => ({
    Program(node) {
      const name = basename(context.filename).replace(/(\.test)?\.(tsx?|mjs)$/, '');
      const isGood =
        /^([a-z0-9]+(-[a-z0-9]+)*|use[A-Z][A-Za-z0-9]*)$/.test(name) ||
        (/^[A-Z][A-Za-z0-9]*$/.test(name) && context.filename.endsWith('.tsx'));
      if (!isGood && !/\.(config|d)$/.test(name))
        context.report({
          node,
          message: `'${name}' is neither kebab-case, a hook, nor a component in PascalCase.`,
        });
      const folder = basename(dirname(context.filename));
      if (!/^[a-z0-9-]+$/.test(folder))
        context.report({ node, message: `The folder '${folder}' is not in kebab-case.` });
    },
  }),
};

const noImportsFrom = (patterns, message) => ({
  'no-restricted-imports': ['error', { patterns: [{ regex: patterns, message }] }],
});

export default tseslint.config(
  {
    ignores: ['**/dist/**', '**/node_modules/**', 'server/**', 'docs/**', 'target/**', 'contract/types.d.ts'],
  },
  js.configs.recommended,
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
  { files: ['tools/kits/kit-page/*.js'], languageOptions: { globals: globals.browser } },
  {
    files: ['mfe-*/**/*.{ts,tsx}', '{e2e,testkit,tools}/**/*.ts', '*.ts'],
    extends: [
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
      jsxA11y.flatConfigs.strict,
      reactHooks.configs.flat['recommended-latest'],
    ],
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: [] }, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // An empty text counts as missing wherever the provider may send one.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // The type of a Record's key decides, not the notation.
      '@typescript-eslint/dot-notation': 'off',
      // `Field` labels antd's controls; a Switch is inside its label.
      'jsx-a11y/label-has-associated-control': [
        'error',
        { controlComponents: ['Switch', 'Input', 'Select'], depth: 3 },
      ],
      // Screens that are a form start in its first field (REQ-082).
      'jsx-a11y/no-autofocus': 'off',
      // Safari and VoiceOver lose a table's and a list's role once CSS changes how they are laid out.
      'jsx-a11y/no-redundant-roles': 'off',
      'jsx-a11y/no-interactive-element-to-noninteractive-role': ['error', { tr: ['row'], td: ['cell'] }],
      'no-console': ['error', { allow: ['warn', 'error'] }],
    },
  },
  {
    files: ['mfe-*/src/**', 'mfe-kit/template/src/**'],
    plugins: { mkopo: { rules: { 'file-names': fileNames } } },
    rules: { 'mkopo/file-names': 'error' },
  },
  {
    files: ['mfe-kit/src/**'],
    rules: noImportsFrom('^mfe-(?!kit)|\\.\\./\\.\\./mfe-', 'mfe-kit imports from no slice.'),
  },
  {
    files: SLICES.map((slice) => `${slice}/src/**`),
    rules: noImportsFrom(
      '^mfe-(?!kit)|(\\.\\./)+mfe-|^antd|^openapi-fetch|^@module-federation|^mfe-kit/src',
      'A slice imports from mfe-kit’s entries, and from no other slice; antd’s components come from mfe-kit/ui….',
    ),
  },
  {
    files: ['mfe-shell/src/**'],
    rules: noImportsFrom(
      '^mfe-(?!kit)|(\\.\\./)+mfe-|^antd|^mfe-kit/src',
      'The shell loads slices at run time; antd’s components come from mfe-kit/ui….',
    ),
  },
  {
    files: ['**/*.test.{ts,tsx}', 'mfe-kit/src/testing/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['{e2e,testkit,tools}/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Playwright's fixtures take a function called `use`, and may use no fixture.
      'react-hooks/rules-of-hooks': 'off',
      'no-empty-pattern': 'off',
      // Tests print measurements.
      'no-console': 'off',
    },
  },
);
