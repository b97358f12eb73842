import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = join(import.meta.dirname, '../../.local/cache/kubernetes')

const KUBECTL = 'v0.34.1'
const MODULE = `module checks

go 1.25

require k8s.io/kubectl ${KUBECTL}
`
const MAIN = `package main

import (
	"os"

	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	if cmd.NewDefaultKubectlCommand().Execute() != nil {
		os.Exit(1)
	}
}
`

/** The oldest kubectl of a machine that is as good as one built here: 1.x. */
const OLDEST_KUBECTL = 30

/** Whether the machine has a kubectl that is new enough. Building one takes minutes. */
function hasKubectl(): boolean {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' })
  return Number(/"gitVersion": "v1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0) >= OLDEST_KUBECTL
}

/** The path of kubectl: the machine's, or one built into a cache unless it is there. Throws when that fails. */
export async function installedKubectl(): Promise<string> {
  if (hasKubectl()) return 'kubectl'
  const place = join(CACHE, `kubectl-${KUBECTL}`)
  const path = join(place, 'kubectl')
  if (existsSync(path)) return path
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'go.mod'), MODULE)
  writeFileSync(join(place, 'main.go'), MAIN)
  await go(['build', '-o', path, '.'], place)
  return path
}

/** A folder with the files of a Go module, `<path>@<version>`, fetched when it is not there yet. */
export async function goModule(module: string): Promise<string> {
  const { Dir: folder } = JSON.parse(await go(['mod', 'download', '-json', module], import.meta.dirname)) as {
    Dir: string
  }
  return folder
}

/** Runs Go in a folder and returns what it prints. Throws its last line, or how to get Go. */
async function go(args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, GOFLAGS: '-mod=mod' }
  try {
    const { stdout } = await run('go', args, { cwd, env, maxBuffer: 16 * 1024 * 1024 })
    return stdout
  } catch (error) {
    const { code, stderr = '', stdout = '' } = error as { code?: unknown; stderr?: string; stdout?: string }
    if (code === 'ENOENT')
      throw new Error('Go is missing: install Go 1.25 or newer (https://go.dev/dl)', { cause: error })
    throw new Error(`go ${args.join(' ')}: ${(stderr || stdout).trim().split('\n').at(-1)}`, { cause: error })
  }
}
