import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ProgramOptions, startManagedProcess } from '../processes/managed-process.ts'
import { answersOk, freePort } from '../processes/ports.ts'
import { javaProgram } from './java.ts'
import { resolveJavaPrograms } from './maven.ts'

/** Starts the Apicurio registry on 127.0.0.1 with its schemas in a file. `url` is that of the Confluent API. */
export async function startRegistry(options: ProgramOptions) {
  const directory = resolve(options.directory)
  const log = join(directory, 'registry.log')
  const { registryDirectory } = await resolveJavaPrograms(options.onProgress)
  const jar = readdirSync(registryDirectory).find((name) => name.endsWith('-runner.jar')) as string
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`
  mkdirSync(directory, { recursive: true })
  const managed = await startManagedProcess({
    command: {
      ...javaProgram('the schema registry', log, 160, ['-jar', join(registryDirectory, jar)]),
      env: { ...process.env, ...settings(directory, port) },
    },
    isReady: () => answersOk(`${url}/subjects`),
    onDeath: options.onDeath,
  })
  return Object.assign(managed, { url })
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
    // WRITE_DELAY=0: an id that the registry has answered has to survive kill -9, since records carry it.
    APICURIO_DATASOURCE_URL: `jdbc:h2:file:${join(directory, 'registry')};WRITE_DELAY=0`,
  }
}
