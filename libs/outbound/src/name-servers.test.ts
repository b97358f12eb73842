import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { NameCache } from './name-cache.ts'
import { askNameServers } from './name-servers.ts'
import { type Records, startNameServer } from './testing/name-server.ts'

const manyAddresses = (count: number) => [...Array(count)].map((_, index) => `192.0.2.${index}`)
const zone: Record<string, Records> = {
  'both.test': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8:0:0:0:0:0:1'], ttl: 30 },
  'six.test': { AAAA: ['2001:db8:0:0:0:0:0:1'] },
  'none.test': {},
  'alias.test': { cname: 'both.test', ttl: 7 },
  'dangling.test': { cname: 'nowhere.test' },
  'hangs.test': { silent: ['A', 'AAAA'] },
  'half.test': { A: ['192.0.2.1'], silent: ['AAAA'] },
  'lost.test': { A: ['192.0.2.1'], AAAA: ['2001:db8:0:0:0:0:0:1'], silent: ['A'] },
  'long.test': { A: manyAddresses(60), AAAA: Array(4).fill('2001:db8:0:0:0:0:0:1') },
  'huge.test': { A: manyAddresses(250) },
}
const server = await startNameServer(zone)
const ask = askNameServers({ servers: [server.address], answeredWithinMs: 10_000 })
/** For names whose answers do not all come. */
const askBriefly = askNameServers({ servers: [server.address], answeredWithinMs: 3000 })
const queriesFor = (name: string) => server.queries.filter((query) => query.endsWith(` ${name}`))

test('IPv4 and IPv6 addresses are found, with their TTL', async () => {
  expect(await ask('both.test')).toEqual({ addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'], ttl: 30 })
  expect(await ask('six.test')).toEqual({ addresses: ['2001:db8::1'], ttl: 60 })
})

test('an alias leads to its addresses and holds for as long as the shorter TTL', async () => {
  expect(await ask('alias.test')).toEqual({ addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'], ttl: 7 })
})

test.each(['unknown.test', 'none.test', 'dangling.test', 'double..dot.test'])('%s has no address', async (name) => {
  await expect(ask(name)).rejects.toMatchObject({ failureClass: 'dns', message: `${name} has no address` })
})

test('an answer too long for UDP is fetched by TCP', async () => {
  expect((await ask('long.test')).addresses).toHaveLength(64)
})

test('a name with more than 64 addresses is nobody’s', async () => {
  await expect(ask('huge.test')).rejects.toMatchObject({
    failureClass: 'dns',
    message: 'huge.test has more than 64 addresses',
  })
})

test('a name server that does not answer is waited for a limited time', async () => {
  await expect(askBriefly('hangs.test')).rejects.toMatchObject({
    failureClass: 'dns',
    message: 'the name servers of hangs.test could not be asked (ETIMEOUT)',
  })
})

test('what has been answered by then counts', async () => {
  expect(await askBriefly('half.test')).toEqual({ addresses: ['192.0.2.1'], ttl: 60 })
})

test('an answer without IPv4, which was asked for in vain, is kept no longer than a failure', async () => {
  expect(await askBriefly('lost.test')).toEqual({ addresses: ['2001:db8::1'], ttl: 5 })
})

test('lookups that hang occupy no thread that others need', async () => {
  const patient = askNameServers({ servers: [server.address] })
  let ended = 0
  for (let lookup = 0; lookup < 50; lookup++) patient('hangs.test').catch(() => ended++)
  await readFile(import.meta.filename)
  expect(await ask('both.test')).toMatchObject({ ttl: 30 })
  expect(ended).toBe(0)
})

test.each(['localhost', 'receiver.localhost', 'localhost.'])('%s is loopback and not asked for', async (name) => {
  expect((await ask(name)).addresses).toEqual(['127.0.0.1', '::1'])
  expect(queriesFor(name)).toEqual([])
})

test('within its TTL a name is asked for once, and what it resolves to later is seen after it', async () => {
  const clock = { now: 0 }
  const { find } = new NameCache(ask, () => clock.now)
  zone['moves.test'] = { A: ['192.0.2.1'], ttl: 10 }
  await Promise.all([find('moves.test'), find('moves.test')])
  zone['moves.test'] = { A: ['192.0.2.2'], ttl: 10 }
  clock.now = 9999
  expect(await find('moves.test')).toEqual(['192.0.2.1'])
  expect(queriesFor('moves.test')).toHaveLength(2)
  clock.now = 10_000
  expect(await find('moves.test')).toEqual(['192.0.2.2'])
  expect(queriesFor('moves.test')).toHaveLength(4)
})
