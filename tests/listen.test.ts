import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Category } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { runCli } from '../infra/cli/run-cli.ts'
import { sharedStack } from './testing/stack.ts'
import { eventOf, isGenuine } from './testing/webhooks.ts'
import { demoApi } from './testing/workspaces.ts'

const stack = await sharedStack()
const sandbox = demoApi(stack.description(), false)
const EVENTS = 'category.created,category.deleted'

interface Endpoint {
  readonly id: string
  readonly description: string | null
}

/** The endpoints that commands have made. */
async function left(api = sandbox): Promise<Endpoint[]> {
  const { items } = (await api<{ items: Endpoint[] }>('GET', '/v1/webhooks?limit=100')).body
  return items.filter(({ description }) => description?.startsWith('backoffice listen on '))
}

/** Starts `npx backoffice listen` on the stack; `stop` is Ctrl-C in its terminal, which all its processes get. */
function listen(forwardTo: string, environment: NodeJS.ProcessEnv = {}) {
  const args = ['infra/cli/backoffice.mjs', 'listen', '--forward-to', forwardTo, '--events', EVENTS]
  const env = { ...process.env, STACK_DIR: stack.directory, ...environment }
  const child = spawn(process.execPath, args, { env, detached: true })
  const printed = { output: '', errors: '' }
  child.stdout.on('data', (text) => (printed.output += text))
  child.stderr.on('data', (text) => (printed.errors += text))
  const ended = once(child, 'close').then(([code]) => code)
  whenDone(() => child.exitCode ?? process.kill(-(child.pid ?? 0), 'SIGKILL'))
  const stop = () => {
    process.kill(-(child.pid ?? 0), 'SIGINT')
    return ended
  }
  return { ended, stop, printed }
}

it('forwards events of the sandbox once each in their order, signed in both forms by its secret, and leaves nothing', async () => {
  const receiver = await startReceiver()
  const command = listen(`${receiver.url}/hook`)
  const secret = await eventually(
    'it listens',
    () => /^Signing secret: (whsec_\S+)$/m.exec(command.printed.output)?.[1],
  )
  expect(await left()).toHaveLength(1)
  const { body: category } = await sandbox<Category>('POST', '/v1/categories', { name: 'Forwarded' })
  await sandbox('DELETE', `/v1/categories/${category.id}`)
  const mine = () => receiver.requests.filter((request) => eventOf(request).data.id === category.id)
  await eventually('both arrive', () => mine().length === 2)
  const events = mine().map(eventOf)
  expect(events.map(({ type }) => type)).toEqual(['category.created', 'category.deleted'])
  for (const request of mine()) {
    expect(request.path).toBe('/hook')
    expect(isGenuine(request, secret, ['hex', 'base64'])).toBe(true)
    expect(eventOf(request)).toMatchObject({ id: request.headers['webhook-id'], livemode: false })
  }
  for (const { type, id } of events) {
    await eventually('its answer is printed', () => command.printed.output.includes(`${type}  ${id}  204\n`))
  }
  expect([await command.stop(), command.printed.errors]).toEqual([0, ''])
  expect(mine()).toHaveLength(2)
  expect(await left()).toEqual([])
})

it('gets what `backoffice trigger` sends: the example of an event, signed, to each endpoint that takes it', async () => {
  const receiver = await startReceiver()
  async function trigger(...args: string[]) {
    let [output, errors] = ['', '']
    const code = await runCli(['trigger', ...args], {
      environment: { STACK_DIR: stack.directory },
      print: (text) => (output += text),
      printError: (text) => (errors += text),
      readInput: async () => '',
    })
    return { code, output, errors }
  }
  const command = listen(receiver.url)
  const secret = await eventually('it listens', () => /^Signing secret: (\S+)$/m.exec(command.printed.output)?.[1])
  const { code, output } = await trigger('category.deleted')
  expect(code).toBe(0)
  const request = await eventually('the example arrives', () =>
    receiver.requests.find(({ headers }) => output.includes(String(headers['webhook-id']))),
  )
  expect(isGenuine(request, secret, ['hex', 'base64'])).toBe(true)
  expect(eventOf(request)).toMatchObject({ type: 'category.deleted', livemode: false })
  const [endpoint] = await left()
  expect(await trigger('order.paid', '--endpoint', String(endpoint?.id))).toMatchObject({ code: 0 })
  expect((await trigger('tag.deleted')).errors).toContain('no endpoint takes tag.deleted')
  expect((await trigger('category.gone', '--endpoint', String(endpoint?.id))).errors).toMatch(
    /event_type.*bad_request/s,
  )
  expect(await command.stop()).toBe(0)
})

it('prints why a receiver gives no answer, and goes on', async () => {
  const command = listen(`http://127.0.0.1:${await freePort()}/`)
  await eventually('it listens', () => command.printed.output.includes('Signing secret'))
  for (const name of ['First', 'Second']) await sandbox('POST', '/v1/categories', { name })
  await eventually(
    'both are tried',
    () => command.printed.output.match(/^category\.created {2}\S+ {2}no answer: ECONNREFUSED$/gm)?.length === 2,
  )
  expect(await command.stop()).toBe(0)
})

it('ends with the refusal when its endpoint is gone: it would wait for ever for events that come no more', async () => {
  const command = listen('http://localhost:3000/')
  await eventually('it listens', () => command.printed.output.includes('Signing secret'))
  for (const { id } of await left()) await sandbox('DELETE', `/v1/webhooks/${id}`)
  expect(await command.ended).toBe(1)
  expect(command.printed.errors).toMatch(/ \(not_found, request \S+\)$/m)
})

it('refuses a key of a live workspace, and makes nothing there', async () => {
  const { workspaces } = stack.description()
  const live = workspaces.find(({ livemode }) => livemode) ?? expect.fail()
  const command = listen('http://localhost:3000/', { BACKOFFICE_KEY: live.key })
  expect(await command.ended).toBe(1)
  expect(command.printed.errors).toContain('BACKOFFICE_KEY is no key of a sandbox')
  expect(command.printed.errors).not.toContain(live.key)
  expect(await left(demoApi(stack.description()))).toEqual([])
})
