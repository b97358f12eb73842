import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lastLines, startChild } from './child.ts'
import { javaCommand, jvmFlags } from './java.ts'
import { resolveJavaParts } from './maven.ts'
import { type Part, type Progress, startPart } from './part.ts'
import { freePort } from './ports.ts'

/** A running schema registry. */
export interface Registry extends Part {
  /** Where it speaks the Confluent API. */
  readonly url: string
}

interface RegistryOptions {
  /** Keeps the schemas and their ids over restarts. */
  readonly directory: string
  readonly port?: number
  readonly onProgress?: Progress
  readonly onDeath?: (how: string) => void
}

/** Starts the Apicurio registry on 127.0.0.1 with its schemas in a database file in `directory`. */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const directory = resolve(options.directory)
  const log = join(directory, 'registry.log')
  const { registryDirectory } = await resolveJavaParts((text) => options.onProgress?.(text))
  const jar = readdirSync(registryDirectory).find((name) => name.endsWith('-runner.jar')) as string
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`
  mkdirSync(directory, { recursive: true })
  const part = await startPart({
    name: 'the schema registry',
    launch: () =>
      startChild({
        name: 'the schema registry',
        file: javaCommand(),
        args: [...jvmFlags(160, directory), '-jar', join(registryDirectory, jar)],
        env: { ...process.env, ...settings(directory, port) },
        cwd: directory,
        output: log,
      }),
    isReady: () =>
      fetch(`${url}/subjects`).then(
        (response) => response.ok,
        () => false,
      ),
    explain: () => lastLines(log),
    onDeath: options.onDeath,
  })
  return Object.assign(part, { url })
}

function settings(directory: string, port: number): NodeJS.ProcessEnv {
  return {
    QUARKUS_HTTP_HOST: '127.0.0.1',
    QUARKUS_HTTP_PORT: String(port),
    QUARKUS_HTTP_ACCESS_LOG_ENABLED: 'false',
    QUARKUS_LOG_LEVEL: 'WARN',
    LOG_LEVEL: 'WARN',
    APICURIO_STORAGE_KIND: 'sql',
    APICURIO_STORAGE_SQL_KIND: 'h2',
    // WRITE_DELAY=0: a schema id that was given out must be there after kill -9, since records carry it.
    APICURIO_DATASOURCE_URL: `jdbc:h2:file:${join(directory, 'registry')};WRITE_DELAY=0`,
  }
}
