import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definitions, installed, type Program } from './tools.ts'

/*
 * `npm run check:kubernetes`: builds each overlay of k8s/ as `kubectl apply -k` would and runs the validators on the
 * result. Needs Go, and no cluster. The first run installs the programs and takes minutes.
 */

const OVERLAYS = join(import.meta.dirname, '../../k8s/overlays')
/** The newest version whose schemas kubectl-validate contains. With them it asks no server. */
const KUBERNETES = '1.30'

/** Rules of kube-score that the manifests break on purpose, with the reason. */
const SCORE_EXCEPTIONS: Readonly<Record<string, string>> = {
  'container-image-pull-policy': 'tags never move, and a pod must start while the image registry is away',
  'deployment-has-host-podantiaffinity':
    'topologySpreadConstraints spread replicas over nodes and zones; the rule does not know them',
  'deployment-replicas':
    'the ScaledObjects of KEDA keep two replicas at least; the rule knows HorizontalPodAutoscalers alone',
}
/** Rules of kube-linter, likewise. */
const LINT_EXCEPTIONS: Readonly<Record<string, string>> = {
  'unset-cpu-requirements':
    'limits of CPU throttle: requests are answered late while cores are idle. kube-score checks the requests',
}

const folder = mkdtempSync(join(tmpdir(), 'backoffice-kubernetes-'))
const kustomize = await installed('kustomize')
const validators = [await validate(), await score(), await lint()]
for (const overlay of readdirSync(OVERLAYS)) {
  const file = join(folder, `${overlay}.yaml`)
  writeFileSync(file, execFileSync(kustomize, ['build', join(OVERLAYS, overlay)]))
  for (const { name, program, args } of validators) {
    const problem = problemOf(program, [...args, file])
    console.log(`${overlay}: ${name} ${problem === undefined ? 'passed' : 'failed'}`)
    if (problem === undefined) continue
    console.error(problem)
    process.exitCode = 1
  }
}
rmSync(folder, { recursive: true })

interface Validator {
  readonly name: Program
  readonly program: string
  /** The name of the checked file comes after them. */
  readonly args: readonly string[]
}

async function validate(): Promise<Validator> {
  const args = ['--version', KUBERNETES, '--local-crds', await definitions()]
  return { name: 'kubectl-validate', program: await installed('kubectl-validate'), args }
}

async function score(): Promise<Validator> {
  const ignored = Object.keys(SCORE_EXCEPTIONS).flatMap((rule) => ['--ignore-test', rule])
  // Without limits of CPU: see unset-cpu-requirements.
  const args = ['score', '--exit-one-on-warning', '--ignore-container-cpu-limit', ...ignored]
  return { name: 'kube-score', program: await installed('kube-score'), args }
}

async function lint(): Promise<Validator> {
  const args = ['lint', '--exclude', Object.keys(LINT_EXCEPTIONS).join(',')]
  return { name: 'kube-linter', program: await installed('kube-linter'), args }
}

/** What a program prints when it refuses its input; undefined when it does not. */
function problemOf(program: string, args: readonly string[]): string | undefined {
  try {
    execFileSync(program, args, { stdio: 'pipe' })
    return undefined
  } catch (error) {
    const { stdout, stderr } = error as { stdout: Buffer; stderr: Buffer }
    return `${stdout}${stderr}`
  }
}
