/**
 * Reports what the kit's entries export, in `mfe-kit/api`, from the packed kit.
 *
 *     npm run api --workspace mfe-kit                  packs the kit and writes the reports
 *     npm run api --workspace mfe-kit -- --check       fails if those of the kit as it was packed last differ, if
 *                                                      they were changed without the changelog, or if tools can't
 *                                                      resolve the package
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { root } from '../portal/slices.mjs';

const kit = join(root, 'mfe-kit');
const packed = join(kit, 'dist/package');
const isCheck = process.argv.includes('--check');
const off = { default: { logLevel: ExtractorLogLevel.None } };

if (!isCheck || !existsSync(join(packed, 'package.json'))) await import('./pack-mfe-kit.mjs');
const { exports, version } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
const entries = Object.values(exports).filter(
  ({ types }) => types?.startsWith('./dist/') && !/setup/.test(types),
);
mkdirSync(join(kit, 'api'), { recursive: true });
const changed = entries.filter(({ types }) => report(types));

if (isCheck) {
  if (changed.length > 0)
    fail(
      'what mfe-kit exports has changed: run `npm run api --workspace mfe-kit`, and add the change to CHANGELOG.md',
    );
  if (isChangedWithoutChangelog())
    fail('mfe-kit/api was changed without CHANGELOG.md: describe the change there');
  const problems = [...(await problemsOfPackage()), ...(await problemsOfTypes())];
  if (problems.length > 0) fail(`the package has problems:\n${problems.join('\n')}`);
}

async function problemsOfPackage() {
  const { messages, pkg } = await publint({ pkgDir: packed, strict: true, level: 'warning' });
  return messages.map((message) => formatMessage(message, pkg));
}

/** The problems that TypeScript has in resolving the kit, CommonJS aside, which the kit doesn't have. */
async function problemsOfTypes() {
  const tarball = createPackageFromTarballData(await readFile(join(kit, `dist/mfe-kit-${version}.tgz`)));
  const notModules = ['styles.css', 'tsconfig.json', 'package.json'];
  const { problems } = await checkPackage(tarball, { excludeEntrypoints: notModules });
  return problems
    .filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind))
    .map((problem) => JSON.stringify(problem));
}

/** Reports one entry; returns whether it differs from the report before. */
function report(types) {
  const name = basename(types.replace('/index.d.ts', ''), '.d.ts').replace(/^dist$/, 'index');
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(packed, 'package.json'),
    configObject: {
      projectFolder: packed,
      mainEntryPointFilePath: join(packed, types),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2023',
            lib: ['ES2024', 'DOM', 'DOM.Iterable'],
            module: 'ESNext',
            moduleResolution: 'bundler',
            jsx: 'react-jsx',
            strict: true,
            skipLibCheck: true,
            types: [],
          },
          files: [join(packed, types)],
        },
      },
      apiReport: {
        enabled: true,
        reportFolder: join(kit, 'api'),
        reportTempFolder: join(kit, 'dist/api'),
        reportFileName: `${name}.api.md`,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { compilerMessageReporting: off, extractorMessageReporting: off, tsdocMessageReporting: off },
    },
  });
  const result = Extractor.invoke(config, { localBuild: !isCheck, messageCallback: quiet });
  return result.apiReportChanged;
}

function quiet(message) {
  if (message.logLevel !== ExtractorLogLevel.Error) message.handled = true;
}

/** Returns whether the reports were changed later than the changelog, in a commit or in the working tree. */
function isChangedWithoutChangelog() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const now = git('diff', 'HEAD', '--name-only').split('\n');
  if (now.some((file) => file.startsWith('mfe-kit/api/'))) return !now.includes('CHANGELOG.md');
  const last = (path) => git('log', '-1', '--format=%H', '--', path);
  const [api, changelog] = [last('mfe-kit/api'), last('CHANGELOG.md')];
  return api !== '' && git('rev-list', '--count', `${changelog}..${api}`) !== '0';
}

function fail(sentence) {
  console.error(`mkopo: ${sentence}.`);
  process.exit(1);
}
