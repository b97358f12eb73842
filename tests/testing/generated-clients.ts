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
const ORVAL_VERSION = '8.38.0'
const PYTHON_GENERATOR = 'openapi-python-client==0.29.1'
/** What the Python clients of openapi-generator need, as in the requirements.txt that it writes. */
const PYDANTIC_LIBRARIES = ['pydantic==2.14.4', 'python-dateutil==2.9.0.post0', 'urllib3==2.8.0']

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
  await run(generator, ['openapi.json', '--output', 'client.ts'], folder)
  return runTypeScript(folder, OPENAPI_FETCH, args)
}

/** Installs a package from npm, unless it is there. Returns its `node_modules`. */
export async function npmPackage(name: string, version: string): Promise<string> {
  const packages = join(CACHE, `${name.replace('/', '-')}-${version}`)
  if (!existsSync(join(packages, 'node_modules', name))) {
    const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await run('npm', ['install', '--prefix', packages, ...quietly, `${name}@${version}`], ROOT)
  }
  return join(packages, 'node_modules')
}

const orval: GeneratedClient = async (folder, args) => {
  const packages = await npmPackage('orval', ORVAL_VERSION)
  await run(
    join(packages, '.bin/orval'),
    ['--input', 'openapi.json', '--output', 'client.ts', '--client', 'fetch'],
    folder,
  )
  return runTypeScript(folder, ORVAL, args)
}

/** Installs packages from PyPI, unless they are there. Returns the environment of programs that import them. */
async function pythonPackages(folder: string, ...names: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const packages = join(CACHE, names.join(','))
  if (!existsSync(packages)) {
    const quietly = ['--quiet', '--disable-pip-version-check']
    await run('python3', ['-m', 'pip', 'install', ...quietly, '--target', packages, ...names], ROOT)
  }
  return { PYTHONPATH: `${folder}:${packages}`, PYTHONDONTWRITEBYTECODE: '1' }
}

const openapiPythonClient: GeneratedClient = async (folder, args) => {
  const environment = await pythonPackages(folder, PYTHON_GENERATOR)
  const generate = ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', '--meta', 'none']
  const said = await run('python3', [...generate, '--output-path', 'client'], folder, environment)
  if (/^(WARNING|ERROR|Unable)/m.test(said)) throw new Error(`the generator leaves out a part of the document: ${said}`)
  return run('python3', ['-c', PYTHON, ...args], folder, environment)
}

/** Java compiles a short run's code quickly, rather than well. */
const SHORT_RUN = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
/** Nobody runs or reads what it makes beside the client. */
const NO_TESTS = ['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false']

/** Runs openapi-generator with its default options for the client itself. Returns the classpath of its Java clients. */
async function openapiGenerator(folder: string, language: string): Promise<string> {
  const classpath = await resolveClientGenerator()
  const [generator = '', ...libraries] = classpath.split(':')
  await run(
    javaCommand(),
    [...SHORT_RUN, '-jar', generator, 'generate', '-i', 'openapi.json', '-g', language, '-o', 'client', ...NO_TESTS],
    folder,
  )
  return libraries.join(':')
}

const openapiGeneratorJava: GeneratedClient = async (folder, args) => {
  const libraries = await openapiGenerator(folder, 'java')
  write(folder, { 'Program.java': JAVA })
  const javac = javaCommand().replace(/java$/, 'javac')
  const sources = globSync('client/src/main/java/**/*.java', { cwd: folder })
  const options = [
    ...SHORT_RUN.map((option) => `-J${option}`),
    '-nowarn',
    '-proc:none',
    '-classpath',
    libraries,
    '-d',
    'classes',
  ]
  await run(javac, [...options, 'Program.java', ...sources], folder)
  return run(javaCommand(), ['-classpath', `classes:${libraries}`, 'Program', ...args], folder)
}

const openapiGeneratorGo: GeneratedClient = async (folder, args) => {
  await openapiGenerator(folder, 'go')
  write(folder, { 'client/program/main.go': GO })
  const environment = { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
  return run('go', ['run', './program', ...args], join(folder, 'client'), environment)
}

const openapiGeneratorPython: GeneratedClient = async (folder, args) => {
  // OP-244
  write(folder, { 'client/.openapi-generator-ignore': '**/events_api.py' })
  await openapiGenerator(folder, 'python')
  const environment = await pythonPackages(join(folder, 'client'), ...PYDANTIC_LIBRARIES)
  return run('python3', ['-c', PYDANTIC, ...args], folder, environment)
}

export const CLIENTS = {
  'openapi-typescript': openapiTypescript,
  orval,
  'openapi-python-client': openapiPythonClient,
  'openapi-generator, Java': openapiGeneratorJava,
  'openapi-generator, Go': openapiGeneratorGo,
  'openapi-generator, Python': openapiGeneratorPython,
} satisfies Record<string, GeneratedClient>
