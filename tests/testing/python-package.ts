import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Python, or the package, is not available. */
export class PythonMissing extends Error {}

/** Installs a package of PyPI and returns its folder, which is kept between runs. Throws `PythonMissing`. */
export async function pythonPackage(requirement: string, module: string): Promise<string> {
  const folder = join(import.meta.dirname, '../../node_modules/.cache', requirement)
  mkdirSync(folder, { recursive: true })
  try {
    await run('python3', ['-c', `import ${module}`], { env: { ...process.env, PYTHONPATH: folder } })
    return folder
  } catch {
    // Not installed yet.
  }
  try {
    const quick = ['--quiet', '--retries', '1', '--timeout', '10', '--disable-pip-version-check', '--no-compile']
    await run('python3', ['-m', 'pip', 'install', ...quick, '--upgrade', '--target', folder, requirement])
    return folder
  } catch (cause) {
    throw new PythonMissing(`python3 with pip and ${requirement} cannot be had here`, { cause })
  }
}
