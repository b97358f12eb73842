import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const GENERATOR = 'openapi-python-client==0.29.1'
/** Kept between runs, since pip takes a quarter of a minute. */
const PACKAGES = join(import.meta.dirname, '../../node_modules/.cache/openapi-python-client')

/** Python, or the package of the generator, is not available. */
export class PythonMissing extends Error {}

const python = (args: string[], path: string, cwd?: string) =>
  run('python3', args, { cwd, env: { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' } })

/** Generates a client for a document, as the Python package `client` in a folder. Throws `PythonMissing`. */
export async function generatePythonClient(document: unknown, folder: string): Promise<void> {
  await haveGenerator()
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  const output = ['--output-path', join(folder, 'client'), '--meta', 'none']
  const { stdout } = await python(['-m', 'openapi_python_client', 'generate', '--path', file, ...output], PACKAGES)
  const warnings = stdout.split('\n').filter((line) => /^(WARNING|ERROR|Unable)/.test(line))
  if (warnings.length > 0) throw new Error(`the generator cannot read the document: ${stdout}`)
}

/** Runs a program that may import `client` from the folder, and returns the JSON that it prints. */
export async function runPython(program: string, args: string[], folder: string): Promise<unknown> {
  const { stdout } = await python(['-c', program, ...args], `${folder}:${PACKAGES}`, folder)
  return JSON.parse(stdout)
}

async function haveGenerator(): Promise<void> {
  try {
    await python(['-m', 'openapi_python_client', '--version'], PACKAGES)
    return
  } catch {
    mkdirSync(PACKAGES, { recursive: true })
  }
  try {
    const quick = ['--quiet', '--retries', '1', '--timeout', '10', '--disable-pip-version-check']
    await run('python3', ['-m', 'pip', 'install', ...quick, '--upgrade', '--target', PACKAGES, GENERATOR])
  } catch (cause) {
    throw new PythonMissing(`python3 with pip and ${GENERATOR} cannot be had here`, { cause })
  }
}
