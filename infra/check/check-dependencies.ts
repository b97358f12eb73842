import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dependenciesOf, refusedLicences } from './licences.ts'

/*
 * `npm run check:dependencies`: asks the registry for known vulnerabilities of what production installs, checks its
 * licences, and writes a bill of materials (CycloneDX) to .local/sbom.json. Exits 1 for a vulnerability of severity
 * `high` or `critical`, and for a licence that is not allowed. When the registry answers no audit, it prints so and
 * does not fail.
 */
const ROOT = join(import.meta.dirname, '../..')

const npm = (...args: string[]) =>
  spawnSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 ** 2,
    env: { ...process.env, npm_config_loglevel: 'error' },
  })

function hasVulnerabilities(): boolean {
  const { stdout } = npm('audit', '--omit=dev', '--json')
  const report = JSON.parse(stdout || '{}')
  const counts: Record<string, number> | undefined = report.metadata?.vulnerabilities
  if (counts === undefined) {
    console.log(
      `vulnerabilities: not checked, the registry answered: ${report.message ?? report.error?.summary ?? 'nothing'}`,
    )
    return false
  }
  const found: Record<string, { severity: string; range: string }> = report.vulnerabilities ?? {}
  for (const [name, { severity, range }] of Object.entries(found)) console.log(`${severity}: ${name} ${range}`)
  console.log(`vulnerabilities: ${counts.total}, ${counts.high} high, ${counts.critical} critical`)
  return (counts.high ?? 0) + (counts.critical ?? 0) > 0
}

function hasOtherLicences(): boolean {
  const dependencies = dependenciesOf(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))
  const counts = Object.entries(Object.groupBy(dependencies, ({ licence }) => licence))
  console.log(`licences: ${counts.map(([licence, all]) => `${licence} ${all?.length}`).join(', ')}`)
  const refused = refusedLicences(dependencies)
  for (const { name, licence } of refused)
    console.log(`${name} has the licence ${licence}: replace it, or give a reason in licences.ts`)
  return refused.length > 0
}

function writeBillOfMaterials(): boolean {
  const { status, stdout, stderr } = npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev')
  if (status !== 0) {
    console.log(`bill of materials: npm sbom failed: ${stderr}`)
    return false
  }
  mkdirSync(join(ROOT, '.local'), { recursive: true })
  const file = join(ROOT, '.local', 'sbom.json')
  writeFileSync(file, stdout)
  console.log(`bill of materials: ${JSON.parse(stdout).components.length} components in ${file}`)
  return true
}

const areFine = [!hasVulnerabilities(), !hasOtherLicences(), writeBillOfMaterials()]
process.exitCode = areFine.every((is) => is) ? 0 : 1
