import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = join(import.meta.dirname, '../../.local/cache/kubernetes')

interface GoProgram {
  readonly module: string
  readonly version: string
  /** Its folder in the module; the module itself unless given. */
  readonly folder?: string
  /** The program itself, for a module that has its packages alone. */
  readonly main?: string
}

const KUBECTL = `package main

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

/** kubectl, which builds overlays and tries commands of the documents, and the programs that check manifests. */
const PROGRAMS = {
  kubectl: { module: 'k8s.io/kubectl', version: 'v0.34.1', main: KUBECTL },
  'kubectl-validate': { module: 'sigs.k8s.io/kubectl-validate', version: 'v0.0.4' },
  'kube-score': { module: 'github.com/zegl/kube-score', version: 'v1.20.0', folder: 'cmd/kube-score' },
} as const satisfies Record<string, GoProgram>
export type Program = keyof typeof PROGRAMS

/** Where the definitions of the kinds that Kubernetes itself lacks are: a Go module, and files in it. */
const DEFINITIONS: Readonly<Record<string, readonly string[]>> = {
  'sigs.k8s.io/gateway-api@v1.4.1': [
    'config/crd/standard/gateway.networking.k8s.io_gateways.yaml',
    'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.16.1': [
    'config/crd/bases/keda.sh_scaledobjects.yaml',
    'config/crd/bases/keda.sh_triggerauthentications.yaml',
  ],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
}

/** The oldest kubectl of a machine that is as good as one built here: 1.x. */
const OLDEST_KUBECTL = 30

/** Whether the machine has a kubectl that is new enough. Building one takes minutes. */
function hasKubectl(): boolean {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' })
  return Number(/"gitVersion": "v1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0) >= OLDEST_KUBECTL
}

/** The path of a program, built into a cache unless this version is there. Throws when that fails. */
export async function installed(program: Program): Promise<string> {
  if (program === 'kubectl' && hasKubectl()) return program
  const { module, version, folder = '', main }: GoProgram = PROGRAMS[program]
  const place = join(CACHE, `${program}-${version}`)
  const path = join(place, program)
  if (existsSync(path)) return path
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'go.mod'), `module checks\n\ngo 1.25\n\nrequire ${module} ${version}\n`)
  if (main !== undefined) writeFileSync(join(place, 'main.go'), main)
  await go(['build', '-o', path, main === undefined ? posix.join(module, folder) : '.'], place)
  return path
}

/** A folder with the definitions of custom resources, fetched when one is not there yet. */
export async function definitions(): Promise<string> {
  const folder = join(
    CACHE,
    `definitions-${createHash('sha256').update(JSON.stringify(DEFINITIONS)).digest('hex').slice(0, 12)}`,
  )
  mkdirSync(folder, { recursive: true })
  for (const [module, files] of Object.entries(DEFINITIONS)) {
    const missing = files.filter((file) => !existsSync(join(folder, basename(file))))
    if (missing.length === 0) continue
    const { Dir: source } = JSON.parse(await go(['mod', 'download', '-json', module], folder)) as { Dir: string }
    for (const file of missing) cpSync(join(source, file), join(folder, basename(file)))
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
