import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { afterEach, describe, expect, it } from 'vitest'

const SAMPLE = fileURLToPath(new URL('./testing/sample-process.ts', import.meta.url))
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function run(misbehave = '', environment: Record<string, string> = {}) {
  // The sample opens the operations port alone, by default the next one.
  const port = (await freePort()) - 1
  const child = fork(SAMPLE, {
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOST: '127.0.0.1',
      PORT: String(port),
      MISBEHAVE: misbehave,
      ...environment,
    },
    execArgv: [],
    silent: true,
  })
  children.push(child)
  const said: string[] = []
  const logged: Record<string, unknown>[] = []
  child.on('message', (message) => said.push(String(message)))
  if (child.stdout) createInterface(child.stdout).on('line', (line) => logged.push(JSON.parse(line)))
  const ended = once(child, 'close').then(([code]: unknown[]) => code)
  const ask = async (path: string, at = port + 1) => {
    const response = await fetch(`http://127.0.0.1:${at}${path}`)
    return `${response.status} ${(await response.text()).trim()}`
  }
  return { port, child, said, logged, ended, ask }
}

const isReady = ({ ask }: Awaited<ReturnType<typeof run>>) => expect.poll(() => ask('/readyz')).toBe('200 ready')
const hasSaid = ({ said }: Awaited<ReturnType<typeof run>>, what: string) => expect.poll(() => said).toContain(what)

describe('starting', () => {
  it('starts the components in the order listed, is alive but not ready meanwhile, then ready', async () => {
    const sample = await run('wait first')
    await hasSaid(sample, 'start first')
    expect(await sample.ask('/healthz')).toBe('200 alive')
    expect(await sample.ask('/readyz')).toBe('503 not ready: starting, first')
    expect(sample.said).toEqual(['start first'])
    sample.child.send('start')
    await isReady(sample)
    expect(sample.said).toEqual(['start first', 'start last'])
    await expect.poll(() => sample.logged).toMatchObject([{ msg: 'ready', service: 'sample', port: sample.port }])
  })

  it('is ready while a component works in part, and says what does not work', async () => {
    const sample = await run('remark last')
    await expect.poll(() => sample.ask('/readyz')).toBe('200 ready; last is tired')
  })

  it.each(['idle last', 'break last'])(
    'is not ready while a component is not, and says which: %s',
    async (misbehave) => {
      const sample = await run(misbehave)
      await expect.poll(() => sample.ask('/readyz')).toBe('503 not ready: last')
      expect(await sample.ask('/healthz')).toBe('200 alive')
    },
  )

  it.each([
    ['fail last', 'last has no luck'],
    ['build', 'cannot be built'],
  ])('ends with exit code 1 and the reason when it cannot: %s', async (misbehave, message) => {
    const sample = await run(misbehave)
    expect(await sample.ended).toBe(1)
    expect(sample.logged).toMatchObject([{ level: 'error', msg: 'could not start', err: { message } }])
  })

  it('ends with exit code 1 when its operations port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const sample = await run('', { OPS_PORT: String(typeof address === 'object' && address?.port) })
    expect(await sample.ended).toBe(1)
    expect(sample.logged).toMatchObject([{ msg: 'could not start', err: { code: 'EADDRINUSE' } }])
    expect(sample.said).toEqual([])
    taken.close()
  })
})

describe('stopping', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('on %s stops the components in reverse order and exits 0', async (signal) => {
    const sample = await run()
    await isReady(sample)
    sample.child.kill(signal)
    expect(await sample.ended).toBe(0)
    expect(sample.said).toEqual(['start first', 'start last', 'stop last', 'stop first'])
    // What exits writes its lines at once; a thread may still be at those of before. They are read as they come.
    await expect.poll(() => sample.logged).toContainEqual(expect.objectContaining({ msg: 'stopped', signal }))
  })

  it('is not ready from the signal on, still alive, and takes a second signal for the first', async () => {
    const sample = await run('hold last')
    await isReady(sample)
    sample.child.kill('SIGTERM')
    await hasSaid(sample, 'stop last')
    expect(await sample.ask('/readyz')).toBe('503 not ready: stopping')
    expect(await sample.ask('/healthz')).toBe('200 alive')
    sample.child.kill('SIGTERM')
    sample.child.send('stop')
    expect(await sample.ended).toBe(0)
    expect(sample.said.filter((said) => said.startsWith('stop'))).toEqual(['stop last', 'stop first'])
  })

  it('after SIGTERM calls drain of its components, then is not ready and stops nothing for STOP_DELAY', async () => {
    const sample = await run('drain first', { STOP_DELAY: '1h' })
    await isReady(sample)
    sample.child.kill('SIGTERM')
    await hasSaid(sample, 'drain first')
    expect(await sample.ask('/readyz')).toBe('503 not ready: stopping')
    expect(await sample.ask('/healthz')).toBe('200 alive')
    expect(sample.said).toEqual(['start first', 'start last', 'drain first'])
  })

  it('after STOP_DELAY stops the components and exits 0', async () => {
    const sample = await run('drain first', { STOP_DELAY: '10ms' })
    await isReady(sample)
    sample.child.kill('SIGTERM')
    expect(await sample.ended).toBe(0)
    expect(sample.said.slice(2)).toEqual(['drain first', 'stop last', 'stop first'])
  })

  it('stops the others when a component cannot stop', async () => {
    const sample = await run('jam last')
    await isReady(sample)
    sample.child.kill('SIGTERM')
    expect(await sample.ended).toBe(0)
    expect(sample.said).toContain('stop first')
    expect(sample.logged).toContainEqual(expect.objectContaining({ msg: 'could not stop', component: 'last' }))
  })

  it('while it starts, stops what it had begun at once and exits 0', async () => {
    const sample = await run('wait first', { STOP_DELAY: '1h' })
    await hasSaid(sample, 'start first')
    sample.child.kill('SIGTERM')
    expect(await sample.ended).toBe(0)
    expect(sample.said).toEqual(['start first', 'stop first'])
    expect(sample.logged.map(({ msg }) => msg)).toEqual(['stopped'])
  })

  it.each(['', ',fail first'])('while it starts, starts nothing more and fails at nothing more%s', async (failure) => {
    const sample = await run(`wait first,hold first${failure}`)
    await hasSaid(sample, 'start first')
    sample.child.kill('SIGTERM')
    await hasSaid(sample, 'stop first')
    sample.child.send('start')
    sample.child.send('stop')
    expect(await sample.ended).toBe(0)
    expect(sample.said).toEqual(['start first', 'stop first'])
  })
})

it('stops its components and exits 1 with the reason when one of them says that it must end', async () => {
  const sample = await run('fatal')
  await isReady(sample)
  sample.child.send('go')
  expect(await sample.ended).toBe(1)
  expect(sample.said.slice(2)).toEqual(['stop last', 'stop first'])
  const line = expect.objectContaining({ level: 'error', msg: 'going on would do harm' })
  await expect.poll(() => sample.logged).toContainEqual(line)
})

it.each([
  ['rejection', 'unhandled rejection'],
  ['exception', 'uncaught exception'],
])('ends at once with exit code 1 and the reason: %s', async (misbehave, msg) => {
  const sample = await run(misbehave)
  await isReady(sample)
  sample.child.send('go')
  expect(await sample.ended).toBe(1)
  // What exits writes its lines at once; a thread may still be at those of before.
  expect(sample.logged).toContainEqual(expect.objectContaining({ level: 'error', msg }))
})

it('serves its metrics in the Prometheus text format, and nothing else', async () => {
  const sample = await run()
  await isReady(sample)
  const metrics = await sample.ask('/metrics')
  expect(metrics).toContain('# TYPE sample_things_total counter')
  expect(metrics).toMatch(/^sample_things_total(\{.*\})? 3$/m)
  for (const name of ['build_info', 'process_cpu_seconds_total', 'nodejs_heap_bytes', 'nodejs_eventloop_delay_seconds'])
    expect(metrics).toContain(`\n${name}{`)
  for (const line of metrics.slice('200 '.length).split('\n')) {
    expect(line).toMatch(/^(# (HELP|TYPE|UNIT) \S+ .*|[a-z_]+(\{.*\})? [0-9.e+-]+)$/)
  }
  for (const path of ['/', '/metric', '/healthz/', '/v1/products']) expect(await sample.ask(path)).toMatch(/^404 /)
})

it('has its operations port one above the API’s unless told otherwise', async () => {
  const [given, own] = [await run(), await run('', { OPS_PORT: String(await freePort()) })]
  await isReady(given)
  await expect.poll(() => own.logged).toMatchObject([{ msg: 'ready' }])
  await expect(own.ask('/healthz')).rejects.toThrow()
})
