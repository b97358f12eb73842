import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempDisposableSync, readdirSync, writeFileSync } from 'node:fs'
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

/** The validators with their arguments; the name of the checked file comes after them. */
const VALIDATORS: readonly (readonly [Program, ...string[]])[] = [
  ['kubectl-validate', '--version', KUBERNETES, '--local-crds', await definitions()],
  [
    'kube-score',
    'score',
    '--exit-one-on-warning',
    // They throttle: requests are answered late while cores are idle.
    '--ignore-container-cpu-limit',
    ...Object.keys(SCORE_EXCEPTIONS).flatMap((rule) => ['--ignore-test', rule]),
  ],
]

using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-kubernetes-'))
const kubectl = await installed('kubectl')
for (const overlay of readdirSync(OVERLAYS)) {
  const file = join(folder.path, `${overlay}.yaml`)
  writeFileSync(file, execFileSync(kubectl, ['kustomize', join(OVERLAYS, overlay)]))
  for (const [name, ...args] of VALIDATORS) {
    const { status, stdout, stderr } = spawnSync(await installed(name), [...args, file], { encoding: 'utf8' })
    console.log(`${overlay}: ${name} ${status === 0 ? 'passed' : 'failed'}`)
    if (status === 0) continue
    console.error(`${stdout}${stderr}`)
    process.exitCode = 1
  }
}
