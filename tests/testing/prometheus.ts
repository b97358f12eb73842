import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { answersOk, freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import type { TestStack } from './stack.ts'

/** A result of a query: one sample for each series. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [at: number, value: string]
}

/** Runs promtool. Rejects with what it prints when the check fails. */
export const promtool = (...args: string[]) =>
  promisify(execFile)(programOf('promtool'), args, { env: { ...process.env, GOGC: '400' } })

/**
 * The rules for a drill: alerts fire without `for`, when something has waited for 10 s, and look back for 10 s only, in
 * which 20 requests and one workspace are many, and records late after 5 s. Measurements are up to 15 s old while all
 * is well.
 */
const impatient = (rules: string) =>
  rules
    .replaceAll(/^ +for: .*\n/gm, '')
    .replaceAll(/(_seconds\)) > \d+/g, '$1 > 10')
    .replace('(measurement_age_seconds) > 10', '(measurement_age_seconds) > 20')
    .replaceAll(/(?<=\[|offset )\d+[mh]\b/g, '10s')
    .replaceAll(/> 25$/gm, '> 0')
    .replaceAll(/> 1000$/gm, '> 20')
    .replaceAll('le=~"60(', 'le=~"5(')

/**
 * Starts Prometheus with the rules of `infra/prometheus`, as they are or for a drill. It scrapes a stack's services
 * every second, and evaluates all rules every other.
 */
export async function startPrometheus(stack: TestStack, { isDrill = false } = {}) {
  const program = programOf('prometheus')
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-prometheus-'))
  chmodSync(directory, 0o755)
  for (const file of globSync('infra/prometheus/rules/*.yml')) {
    const rules = readFileSync(file, 'utf8').replaceAll(/^ +interval: .*\n/gm, '')
    writeFileSync(join(directory, basename(file)), isDrill ? impatient(rules) : rules)
  }
  const { services } = stack.description()
  const targets = new Map(Object.entries(services).map(([service, { operations }]) => [operations, service]))
  const writeTargets = () => {
    const all = [...targets].map(([url, service]) => ({ targets: [new URL(url).host], labels: { service } }))
    writeFileSync(join(directory, 'targets.json'), JSON.stringify(all))
  }
  writeTargets()
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '2s' },
    rule_files: ['*.yml'],
    scrape_configs: [{ job_name: 'backoffice', file_sd_configs: [{ files: ['targets.json'] }] }],
  }
  // JSON is YAML too.
  writeFileSync(join(directory, 'prometheus.json'), JSON.stringify(config))
  const url = `http://127.0.0.1:${await freePort()}`
  const prometheus = await startManagedProcess({
    command: {
      name: 'Prometheus',
      file: program,
      args: [
        `--config.file=${join(directory, 'prometheus.json')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        `--web.listen-address=${new URL(url).host}`,
        '--log.level=error',
      ],
      output: () => undefined,
    },
    isReady: () => answersOk(`${url}/-/ready`),
  })
  whenDone(async () => {
    await prometheus.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const get = async <Data>(path: string): Promise<Data> => {
    const answer = await fetch(new URL(path, url))
    const body = (await answer.json()) as { status: string; error?: string; data: Data }
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`)
    return body.data
  }
  return {
    url,
    get,
    stop: () => prometheus.stop(),
    /** Scrapes a further process of a service from now on. */
    scrape(service: string, operations: string) {
      targets.set(operations, service)
      writeTargets()
    },
    /** Scrapes a process no more. */
    forget(operations: string) {
      targets.delete(operations)
      writeTargets()
    },
    query: async (expression: string) =>
      (await get<{ result: Sample[] }>(`/api/v1/query?query=${encodeURIComponent(expression)}`)).result,
  }
}

/** The program's name, once it is known to be there. */
function programOf(name: string): string {
  const { error } = spawnSync(name, ['--version'])
  if (error) throw new Error(`${name} is missing: apt-get install prometheus`)
  return name
}
