import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { javaCommand } from '@backoffice/testing/servers/java.ts'
import { resolveClientGenerator } from '@backoffice/testing/servers/maven.ts'
import { GO, JAVA, OPENAPI_FETCH, ORVAL, PYDANTIC, PYTHON } from './client-programs.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What pip and npm install is kept between runs. */
const CACHE = join(ROOT, '.local/cache')
/** Orval, and what imports the document into Postman and Bruno. */
const NPM_PACKAGES = ['orval@8.38.0', 'openapi-to-postmanv2@6.3.3', '@usebruno/converters@0.23.0']
/** A generator, and what the Python clients of openapi-generator need, as in the requirements.txt that it writes. */
const PYTHON_PACKAGES = [
  'openapi-python-client==0.29.1',
  'pydantic==2.14.4',
  'python-dateutil==2.9.0.post0',
  'urllib3==2.8.0',
]

/** In a folder with `openapi.json`: generates a client, compiles a program with it, and runs that with arguments. */
export type GeneratedClient = (folder: string, args: readonly string[]) => Promise<string>

async function run(file: string, args: readonly string[], cwd: string, environment: NodeJS.ProcessEnv = {}) {
  const { stdout } = await promisify(execFile)(file, args, {
    cwd,
    env: { ...process.env, ...environment },
    maxBuffer: 2 ** 26,
  })
  return stdout
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

const TYPESCRIPT = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'dom'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
  }),
}

/** Checks the types of a folder's program, and runs it. */
async function runTypeScript(folder: string, program: string, args: readonly string[]): Promise<string> {
  write(folder, { ...TYPESCRIPT, 'program.ts': program })
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'], folder)
  return run(process.execPath, ['program.ts', ...args], folder)
}

const openapiTypescript: GeneratedClient = async (folder, args) => {
  const generator = join(ROOT, 'libs/app-sdk/node_modules/.bin/openapi-typescript')
  await run(generator, ['openapi.json', '--output', 'openapi-typescript/client.ts'], folder)
  return runTypeScript(join(folder, 'openapi-typescript'), OPENAPI_FETCH, args)
}

/** Calls a function once, for all who ask for its result. */
function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined
  return () => (made ??= make())
}

/** Installs the packages from npm, unless they are there. Returns their `node_modules`. */
export const npmPackages = once(async () => {
  const packages = join(CACHE, NPM_PACKAGES.join(',').replaceAll('/', '-'))
  if (!existsSync(join(packages, 'node_modules/.package-lock.json'))) {
    const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await run('npm', ['install', '--prefix', packages, ...quietly, ...NPM_PACKAGES], ROOT)
  }
  return join(packages, 'node_modules')
})

const orval: GeneratedClient = async (folder, args) => {
  const generator = join(await npmPackages(), '.bin/orval')
  await run(generator, ['--input', 'openapi.json', '--output', 'orval/client.ts', '--client', 'fetch'], folder)
  return runTypeScript(join(folder, 'orval'), ORVAL, args)
}

/** Installs the packages from PyPI, unless they are there. Returns their folder. */
const pythonPackages = once(async () => {
  const packages = join(CACHE, PYTHON_PACKAGES.join(','))
  if (!existsSync(packages)) {
    const quickly = ['--quiet', '--disable-pip-version-check', '--no-compile']
    await run('python3', ['-m', 'pip', 'install', ...quickly, '--target', packages, ...PYTHON_PACKAGES], ROOT)
  }
  return packages
})

/** Runs Python with the packages, and with the modules of a folder. */
const python = async (folder: string, args: readonly string[], modules = folder) =>
  run('python3', args, folder, { PYTHONPATH: `${modules}:${await pythonPackages()}`, PYTHONDONTWRITEBYTECODE: '1' })

const openapiPythonClient: GeneratedClient = async (folder, args) => {
  const generate = ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', '--meta', 'none']
  const said = await python(folder, [...generate, '--output-path', 'client'])
  if (/^(WARNING|ERROR|Unable)/m.test(said)) throw new Error(`the generator leaves out a part of the document: ${said}`)
  return python(folder, ['-c', PYTHON, ...args])
}

/** Java compiles a short run's code quickly, rather than well. */
const SHORT_RUN = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
const LANGUAGES = ['java', 'go', 'python']
/** Nobody runs or reads what it makes beside the client. */
const NO_TESTS = { apiTests: 'false', modelTests: 'false', apiDocs: 'false', modelDocs: 'false' }

/**
 * Runs openapi-generator with its default options for the clients themselves, which it writes to a folder for each
 * language. Returns the classpath of its Java clients.
 */
async function generate(folder: string): Promise<string> {
  const [generator = '', ...libraries] = (await resolveClientGenerator()).split(':')
  const configOf = (language: string) => [
    `${language}.json`,
    JSON.stringify({
      inputSpec: 'openapi.json',
      generatorName: language,
      outputDir: language,
      globalProperties: NO_TESTS,
    }),
  ]
  write(folder, {
    ...Object.fromEntries(LANGUAGES.map(configOf)),
    // OP-244
    'python/.openapi-generator-ignore': '**/events_api.py',
  })
  // Started once: it takes longer to start than to write a client.
  const batch = ['batch', '--fail-fast', '--threads', '1', ...LANGUAGES.map((language) => `${language}.json`)]
  await run(javaCommand(), [...SHORT_RUN, '-jar', generator, ...batch], folder)
  return libraries.join(':')
}

let generated: Promise<string> | undefined
const openapiGenerator = (folder: string): Promise<string> => (generated ??= generate(folder))

const openapiGeneratorJava: GeneratedClient = async (folder, args) => {
  const libraries = await openapiGenerator(folder)
  write(folder, { 'Program.java': JAVA })
  const javac = javaCommand().replace(/java$/, 'javac')
  const sources = globSync('java/src/main/java/**/*.java', { cwd: folder })
  const quickly = [...SHORT_RUN.map((option) => `-J${option}`), '-nowarn', '-proc:none']
  await run(javac, [...quickly, '-classpath', libraries, '-d', 'classes', 'Program.java', ...sources], folder)
  return run(javaCommand(), ['-classpath', `classes:${libraries}`, 'Program', ...args], folder)
}

/** Go checks as much, and makes slower programs in less time. */
const QUICK_BUILD = ['-gcflags=./...=-N -l -dwarf=false', '-ldflags=-s -w']

const openapiGeneratorGo: GeneratedClient = async (folder, args) => {
  await openapiGenerator(folder)
  write(folder, { 'go/program/main.go': GO })
  const environment = { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
  return run('go', ['run', ...QUICK_BUILD, './program', ...args], join(folder, 'go'), environment)
}

const openapiGeneratorPython: GeneratedClient = async (folder, args) => {
  await openapiGenerator(folder)
  return python(folder, ['-c', PYDANTIC, ...args], join(folder, 'python'))
}

export const CLIENTS = {
  'openapi-typescript': openapiTypescript,
  orval,
  'openapi-python-client': openapiPythonClient,
  'openapi-generator, Java': openapiGeneratorJava,
  'openapi-generator, Go': openapiGeneratorGo,
  'openapi-generator, Python': openapiGeneratorPython,
} satisfies Record<string, GeneratedClient>
