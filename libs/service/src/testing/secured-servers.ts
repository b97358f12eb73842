import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, connect as tlsConnect } from 'node:tls'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import type { TestCertificate } from '@backoffice/testing/certificates.ts'
import { startKafka } from '@backoffice/testing/servers/kafka.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'

const folder = () => {
  const directory = mkdtempSync(join(tmpdir(), 'secured-'))
  whenDone(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Starts a PostgreSQL that takes connections with TLS alone. Returns the URL of a superuser. */
export async function securedPostgres({ certificate, key }: TestCertificate): Promise<string> {
  const server = await startPostgres({ directory: folder() })
  whenDone(() => server.stop())
  const sql = postgres(server.url, { max: 1 })
  const [{ data_directory: data }] = await sql<[{ data_directory: string }]>`show data_directory`
  const { uid, gid } = statSync(data)
  for (const [name, text] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
    writeFileSync(join(data, name), text, { mode: 0o600 })
    chownSync(join(data, name), uid, gid)
  }
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all all scram-sha-256\n')
  await sql`alter system set ssl = on`
  await sql`select pg_reload_conf()`
  await sql.end()
  return server.url
}

/** The login that the secured servers know. */
export const LOGIN = { username: 'backoffice', password: 'password-of-the-tests' } as const

/** Starts a Kafka whose clients need TLS and a login with SCRAM-SHA-512. Returns its brokers. */
export async function securedKafka({ certificate, key }: TestCertificate): Promise<string[]> {
  const directory = folder()
  const store = join(directory, 'server.pem')
  writeFileSync(store, `${key}${certificate}`)
  const settings = {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': store,
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'scram-sha-512.sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
  }
  const properties = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`listener.name.clients.${name}`, value]),
  )
  const user = `SCRAM-SHA-512=[name=${LOGIN.username},password="${LOGIN.password}"]`
  const clients = { protocol: 'SASL_SSL', properties, formatArguments: ['--add-scram', user] }
  mkdirSync(join(directory, 'kafka'))
  const server = await startKafka({ directory: join(directory, 'kafka'), clients })
  whenDone(() => server.stop())
  return server.brokers
}

/** Kafka's key of the requests in which a client logs in. */
const SASL_AUTHENTICATE = 36

/** Starts a proxy to a broker that closes a connection at its login, as a stopping broker does. Returns its brokers. */
export async function closingAtLogin({ certificate, key }: TestCertificate, [broker]: string[]): Promise<string[]> {
  const proxy = createTlsServer({ cert: certificate, key }, (client) => {
    const server = tlsConnect({ host: '127.0.0.1', port: Number(broker?.split(':')[1]), rejectUnauthorized: false })
    client.on('data', (bytes) => (bytes.readInt16BE(4) === SASL_AUTHENTICATE ? client.end() : server.write(bytes)))
    client.on('close', () => server.destroy())
    server.pipe(client)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  whenDone(() => void proxy.close())
  return [`127.0.0.1:${(proxy.address() as AddressInfo).port}`]
}

/** Starts a proxy to the registry that demands TLS and basic authentication. Returns its URL for clients. */
export async function securedRegistry({ certificate, key }: TestCertificate): Promise<string> {
  const registry = new URL(backingServices().registryUrl)
  const expected = `Basic ${Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString('base64')}`
  const proxy = createServer({ cert: certificate, key }, (request, response) => {
    if (request.headers.authorization !== expected) return response.writeHead(401).end()
    const { method, headers, url: path } = request
    const options = { host: registry.hostname, port: registry.port, method, path, headers }
    const passed = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    return request.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  whenDone(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `https://127.0.0.1:${(proxy.address() as AddressInfo).port}${registry.pathname}`
}
