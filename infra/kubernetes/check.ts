import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { readSchemas } from './schemas.ts'
import { K8S } from './settings.ts'
import { installedKubectl } from './tools.ts'

/*
 * `npm run check:kubernetes`: builds each overlay of k8s/ as `kubectl apply -k` would and tells what a server would
 * refuse in the result. Needs Go, and no cluster.
 */

const OVERLAYS = join(K8S, 'overlays')
const kubectl = await installedKubectl()
const refusalsOf = await readSchemas()
for (const overlay of readdirSync(OVERLAYS)) {
  const built = execFileSync(kubectl, ['kustomize', join(OVERLAYS, overlay)], { encoding: 'utf8' })
  const manifests = parseAllDocuments(built).map((document) => document.toJS())
  const refusals = manifests.flatMap(refusalsOf)
  console.log(`${overlay}: ${manifests.length} manifests, ${refusals.length} refusals`)
  for (const refusal of refusals) console.error(refusal)
  if (refusals.length > 0) process.exitCode = 1
}
