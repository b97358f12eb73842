import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
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
export const promtool = (...args: string[]) => promisify(execFile)(programOf('promtool'), args)

/** Starts Prometheus with the rules of `infra/prometheus`. It scrapes a stack's services every second. */
export async function startPrometheus(stack: TestStack) {
  const program = programOf('prometheus')
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-prometheus-'))
  chmodSync(directory, 0o755)
  const targets = Object.entries(stack.description().services).map(([service, { operations }]) => ({
    targets: [new URL(operations).host],
    labels: { service },
  }))
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [resolve('infra/prometheus/rules/*.yml')],
    scrape_configs: [{ job_name: 'backoffice', static_configs: targets }],
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
