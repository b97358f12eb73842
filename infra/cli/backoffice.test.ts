import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROUTED_SERVICES } from '@backoffice/contracts/services.ts'
import { deadLetter } from '@backoffice/messaging/consumers/dead-letters.ts'
import { encoded } from '@backoffice/messaging/consumers/testing/consumer.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGatewayProcess } from '../../services/gateway/src/testing/gateway-process.ts'
import { runCli } from './run-cli.ts'

const ADMIN_PORT = await freePort()
const gateway = await startGatewayProcess({ ADMIN_PORT: String(ADMIN_PORT) })
const URL_OF_ADMIN = `http://127.0.0.1:${ADMIN_PORT}`
const UNKNOWN = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'
const BOOTSTRAP = { BACKOFFICE_URL: URL_OF_ADMIN, BACKOFFICE_TOKEN: gateway.adminToken }

const directory = mkdtempSync(join(tmpdir(), 'backoffice-cli-'))
whenDone(() => rmSync(directory, { recursive: true, force: true }))

/** Runs a command line of words without spaces. */
async function run(line: string, environment: NodeJS.ProcessEnv = BOOTSTRAP, input = '') {
  let [output, errors] = ['', '']
  const code = await runCli(line.split(' ').filter(Boolean), {
    environment,
    print: (text) => (output += text),
    printError: (text) => (errors += text),
    readInput: async () => input,
  })
  return { code, output, errors }
}

/** Runs a command line with `--json`; it has to succeed. */
async function json(line: string, environment?: NodeJS.ProcessEnv, input?: string) {
  const { code, output, errors } = await run(`${line} --json`, environment, input)
  expect([line, errors, code]).toEqual([line, '', 0])
  return output === '' ? undefined : JSON.parse(output)
}

describe('a tour over the admin API', () => {
  test('a workspace is created, listed and set up', async () => {
    const workspace = await json('workspaces create Shop --domain shop.example.com --sandbox')
    expect(workspace).toMatchObject({ name: 'Shop', domain: 'shop.example.com', sandbox: { livemode: false } })
    expect((await json('workspaces list --limit 1')).items).toMatchObject([{ id: workspace.id }])
    const line = `workspaces settings ${workspace.id} --product-statuses ACTIVE,HIDDEN --per-second 10 --burst 20 --cart-price-seconds 60`
    expect((await json(line)).settings).toEqual({
      product_statuses: ['ACTIVE', 'HIDDEN'],
      rate_limit: { per_second: 10, burst: 20 },
      cart_price_seconds: 60,
    })
  })

  test('a key is created, rotated, listed and revoked', async () => {
    const { id: workspace } = await json('workspaces create Shop')
    const { id } = await json(`keys create ${workspace} --name till --scopes product,sale::read`)
    const rotated = await json(`keys rotate ${id} --overlap-seconds 60`)
    expect(rotated).toMatchObject({ name: 'till', scopes: ['product', 'sale::read'], key: expect.any(String) })
    expect(await json('keys identify', BOOTSTRAP, `${rotated.key}\n`)).toMatchObject({
      id: rotated.id,
      workspace: { id: workspace, name: 'Shop' },
    })
    expect(await json(`keys revoke ${rotated.id}`)).toBeUndefined()
    const listed = await run(`keys list ${workspace}`)
    expect(listed.output.split('\n')).toMatchObject(
      [/^ID +NAME/, RegExp(`^${rotated.id}`), RegExp(`^${id}`), ''].map((line) => expect.stringMatching(line)),
    )
  })

  test('an operator made with ADMIN_TOKEN acts under a name of its own, until it is deleted', async () => {
    const { id, token } = await json('operators create Ada')
    const asAda = { ...BOOTSTRAP, BACKOFFICE_TOKEN: token }
    const workspace = await json('workspaces create Mine', asAda)
    const { items } = await json(`audit --workspace ${workspace.id} --actor Ada`)
    expect(items).toMatchObject([{ actor: 'Ada', action: 'workspace.created', target: `workspaces/${workspace.id}` }])
    const { token: next } = await json(`operators rotate ${id} --overlap-seconds 60`)
    expect(next).toMatch(/^op_/)
    expect((await json('operators list', { ...asAda, BACKOFFICE_TOKEN: next })).items[1]).toMatchObject({
      id,
      name: 'Ada',
    })
    expect((await run(`operators delete ${id}`)).output).toBe('The token is refused everywhere within 5 s.\n')
  })

  test('what is shown once is followed by a note, except with --json', async () => {
    expect((await run('operators create Grace')).output).toMatch(
      /^token +op_.*\n(.*\n)*The token is shown only here\.\n$/m,
    )
  })
})

/** Requests that a server in the place of the gateway has received: of operations whose services are away here. */
const received: { method?: string; url?: string; body: unknown; reason: unknown }[] = []
const server = createServer(async (request, response) => {
  const text = (await request.toArray()).join('')
  const { method = '', url = '', headers } = request
  received.push({ method, url, body: text === '' ? undefined : JSON.parse(text), reason: headers['support-reason'] })
  response.writeHead(202).end()
})
await once(server.listen(0, '127.0.0.1'), 'listening')
whenDone(() => server.close())

/** The address of a server that gives this answer, with a status, to each request. */
async function answering(answer: (method: string, url: string) => readonly [number, object]): Promise<string> {
  const answering = createServer((request, response) => {
    const [status, body] = answer(request.method ?? '', request.url ?? '')
    response.writeHead(status).end(JSON.stringify(body))
  })
  await once(answering.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => void answering.close())
  return `http://127.0.0.1:${(answering.address() as AddressInfo).port}`
}
const REFUSAL = { error: { code: 'service_unavailable', message: 'away', request_id: UNKNOWN } }

describe('requests in a workspace', () => {
  const PATHS = [
    ['orders list --status PLACED', '/orders?status=PLACED'],
    [`orders show ${UNKNOWN}`, `/orders/${UNKNOWN}`],
    [`orders placement ${UNKNOWN}`, `/orders/${UNKNOWN}/placement`],
    ['imports list --after 1', '/imports?after=1'],
    [`imports show ${UNKNOWN}`, `/imports/${UNKNOWN}`],
    [`imports errors ${UNKNOWN}`, `/imports/${UNKNOWN}/errors`],
    ['endpoints list', '/webhooks'],
    [`endpoints show ${UNKNOWN}`, `/webhooks/${UNKNOWN}`],
    [`endpoints status ${UNKNOWN}`, `/webhooks/${UNKNOWN}/status`],
    [`deliveries list --endpoint ${UNKNOWN} --status FAILED`, `/deliveries?endpoint_id=${UNKNOWN}&status=FAILED`],
    [`deliveries show ${UNKNOWN} ${UNKNOWN}`, `/webhooks/${UNKNOWN}/deliveries/${UNKNOWN}`],
  ] as const

  test.each(PATHS)('%s', async (line, path) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await json(line, { BACKOFFICE_URL: 'http://127.0.0.1:9', BACKOFFICE_API_URL: url, BACKOFFICE_KEY: 'sk_test_x' })
    expect(received.at(-1)).toEqual({ method: 'GET', url: `/v1${path}`, body: undefined })
    // As the document of /v1 has it.
    const { pathname } = new URL(`/v1${path}`, url)
    const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))
    const templates = Object.keys(document.paths).map((each) => RegExp(`^${each.replaceAll(/\{\w+\}/g, UNKNOWN)}$`))
    expect(templates.some((each) => each.test(pathname))).toBe(true)
  })

  test('one that writes says why', async () => {
    const BACKOFFICE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await json(`endpoints disable ${UNKNOWN} --reason größer`, { BACKOFFICE_URL, BACKOFFICE_KEY: 'x' })
    const { reason, ...request } = received.at(-1) ?? {}
    expect(request).toEqual({ method: 'POST', url: `/v1/webhooks/${UNKNOWN}/disable` })
    expect(Buffer.from(String(reason), 'latin1').toString()).toBe('größer')
  })

  test('with --workspace they are those of a session of support, which ends with the command', async () => {
    const { id } = await json('workspaces create Supported')
    const api = { ...BOOTSTRAP, BACKOFFICE_API_URL: gateway.url }
    // No service answers here: the gateway admits the session all the same.
    expect((await run(`orders list --workspace ${id}`, api)).errors).toMatch(/service_unavailable/)
    const { items } = await json(`audit --workspace ${id}`)
    expect(items.map((entry: { action: string }) => entry.action).reverse()).toEqual([
      'workspace.created',
      'support_session.created',
      'support.read',
      'support_session.ended',
    ])
    expect((await json(`support list ${id}`)).items).toMatchObject([{ ended_at: expect.any(String) }])
    expect((await run(`orders list --workspace ${UNKNOWN}`, api)).errors).toMatch(/not_found/)
  })
})

test.each([
  [
    'answer',
    200,
    { code: 0, output: expect.stringContaining(UNKNOWN), errors: /^the support session was not ended: away/ },
  ],
  ['refusal', 404, { code: 1, output: '', errors: /ended: away.*\ngone \(/ }],
] as const)('the %s is shown also when the session of support cannot be ended', async (_what, status, expected) => {
  const order = { id: UNKNOWN, error: { code: 'not_found', message: 'gone', request_id: UNKNOWN } }
  const url = await answering((method) => {
    if (method === 'POST') return [201, { id: UNKNOWN, token: 'support' }]
    return method === 'DELETE' ? [503, REFUSAL] : [status, order]
  })
  const shown = await run(`orders show ${UNKNOWN} --workspace ${UNKNOWN}`, {
    BACKOFFICE_URL: url,
    BACKOFFICE_TOKEN: 'x',
  })
  expect(shown).toEqual({ ...expected, errors: expect.stringMatching(expected.errors) })
  expect(shown.errors).toContain(`backoffice support end ${UNKNOWN}`)
})

test('trigger shows what was sent before an endpoint is refused', async () => {
  const items = ['a', 'b'].map((id) => ({ id, url: `https://${id}.example`, enabled_events: ['*'] }))
  const url = await answering((method, path) => {
    if (method === 'GET') return [200, { items, has_next_page: false }]
    return path.includes('/a/') ? [201, { event_id: 'evt_1' }] : [503, REFUSAL]
  })
  const { code, output, errors } = await run('trigger order.paid', { BACKOFFICE_URL: url, BACKOFFICE_KEY: 'sk_test_x' })
  expect([code, output, errors]).toEqual([
    1,
    expect.stringContaining('https://a.example'),
    expect.stringMatching(/^away/),
  ])
})

test.each(['/base', '/base/'])('requests go below the path of the address: %s', async (path) => {
  const BACKOFFICE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  await json('orders list --status PLACED', { BACKOFFICE_URL, BACKOFFICE_KEY: 'sk_test_x' })
  expect(received.at(-1)?.url).toBe('/base/v1/orders?status=PLACED')
})

describe('requests of each command', () => {
  const manifest = join(directory, 'pay.app.json')
  writeFileSync(manifest, '{"provider":"pay"}')

  test.each([
    [`workspaces suspend ${UNKNOWN} --reason fraud`, 'POST', `/workspaces/${UNKNOWN}/suspend`, { reason: 'fraud' }],
    [`workspaces suspend ${UNKNOWN}`, 'POST', `/workspaces/${UNKNOWN}/suspend`, {}],
    ['workspaces list --query shop', 'GET', '/workspaces?query=shop'],
    [`workspaces limits ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}/limits`],
    [`workspaces show ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}`],
    [
      'audit --action key.revoked --since 2027-01-31T00:00:00Z',
      'GET',
      '/audit?action=key.revoked&since=2027-01-31T00%3A00%3A00Z',
    ],
    [
      `support open ${UNKNOWN} --reason ticket`,
      'POST',
      `/workspaces/${UNKNOWN}/support-sessions`,
      { reason: 'ticket' },
    ],
    [`support list ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}/support-sessions`],
    [`requests show ${UNKNOWN}`, 'GET', `/requests/${UNKNOWN}`],
    ['endpoints failing --state DISABLED', 'GET', '/endpoints?state=DISABLED'],
    [`endpoints health ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}/endpoints`],
    [`support end ${UNKNOWN}`, 'DELETE', `/support-sessions/${UNKNOWN}`],
    [`console end ${UNKNOWN}`, 'DELETE', `/console-sessions/${UNKNOWN}`],
    [`workspaces resume ${UNKNOWN}`, 'POST', `/workspaces/${UNKNOWN}/resume`],
    [`workspaces delete ${UNKNOWN} --yes`, 'DELETE', `/workspaces/${UNKNOWN}`],
    [`workspaces deletion ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}/deletion`],
    [
      `keys create ${UNKNOWN} --name a --scopes * --expires-at 2027-01-31T00:00:00Z`,
      'POST',
      `/workspaces/${UNKNOWN}/keys`,
      { name: 'a', scopes: ['*'], expires_at: '2027-01-31T00:00:00Z' },
    ],

    ['apps list --page 2 --limit 5', 'GET', '/apps?page=2&limit=5'],
    [`apps show ${UNKNOWN}`, 'GET', `/apps/${UNKNOWN}`],
    [
      `apps register ${manifest} --origin https://pay.example.com`,
      'POST',
      '/apps',
      { origin: 'https://pay.example.com', manifest: { provider: 'pay' } },
    ],
    [`apps update ${UNKNOWN} ${manifest}`, 'PUT', `/apps/${UNKNOWN}`, { manifest: { provider: 'pay' } }],
    [`installations list ${UNKNOWN}`, 'GET', `/workspaces/${UNKNOWN}/installations`],
    [`installations show ${UNKNOWN}`, 'GET', `/installations/${UNKNOWN}`],
    [`installations install ${UNKNOWN} pay`, 'POST', `/workspaces/${UNKNOWN}/installations`, { provider: 'pay' }],
    [`installations consent ${UNKNOWN}`, 'POST', `/installations/${UNKNOWN}/consent`, {}],
    [`installations decline ${UNKNOWN}`, 'POST', `/installations/${UNKNOWN}/decline`],
    [`installations session ${UNKNOWN}`, 'POST', `/installations/${UNKNOWN}/session`, {}],
    [`installations link ${UNKNOWN} --page consent`, 'POST', `/installations/${UNKNOWN}/links`, { page: 'consent' }],
    [`installations uninstall ${UNKNOWN}`, 'DELETE', `/installations/${UNKNOWN}`],
  ])('%s', async (line, method, path, body?: object) => {
    const BACKOFFICE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await json(line, { BACKOFFICE_URL, BACKOFFICE_TOKEN: 'token' }, 'sk_live_found\n')
    expect(received.at(-1)).toEqual({ method, url: `/admin/v1${path}`, body })
  })
})

describe('requests in a sandbox', () => {
  const manifest = join(directory, 'draft.app.json')
  writeFileSync(manifest, '{"provider":"pay"}')
  const origin = 'https://pay.example.com'

  test.each([
    [`sandbox reset ${UNKNOWN}`, 'POST', '/reset', { workspace: UNKNOWN }],
    ['sandbox status', 'GET', '/reset'],
    ['apps draft list', 'GET', '/apps'],
    [`apps draft show ${UNKNOWN}`, 'GET', `/apps/${UNKNOWN}`],
    [`apps draft register ${manifest} --origin ${origin}`, 'POST', '/apps', { origin, manifest: { provider: 'pay' } }],
    [`apps draft update ${UNKNOWN} ${manifest}`, 'PUT', `/apps/${UNKNOWN}`, { manifest: { provider: 'pay' } }],
    [
      `apps draft install ${UNKNOWN} --scopes sale,app`,
      'POST',
      `/apps/${UNKNOWN}/install`,
      { scopes: ['sale', 'app'] },
    ],
    [`apps draft delete ${UNKNOWN}`, 'DELETE', `/apps/${UNKNOWN}`],
  ])('%s', async (line, method, path, body?: object) => {
    const BACKOFFICE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await json(line, { BACKOFFICE_URL, BACKOFFICE_KEY: 'sk_test_x' })
    expect(received.at(-1)).toEqual({ method, url: `/v1/sandbox${path}`, body })
    const { code, errors } = await run(line, { BACKOFFICE_URL, BACKOFFICE_KEY: 'sk_live_x' })
    expect([code, errors]).toEqual([1, expect.stringContaining('no key of a sandbox')])
  })
})

describe('failures exit 1 with a message', () => {
  test('a refusal has the message, the code and the request id of the API', async () => {
    expect(await run(`keys list ${UNKNOWN}`)).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringMatching(`^Workspace ${UNKNOWN} does not exist \\(not_found, request [0-9a-f-]{36}\\)\n$`),
    })
    expect((await run('workspaces list', { ...BOOTSTRAP, BACKOFFICE_TOKEN: 'wrong' })).errors).toMatch(
      /invalid_api_key/,
    )
  })

  test.each([
    [
      'nobody answers',
      { BACKOFFICE_URL: 'http://127.0.0.1:9', BACKOFFICE_TOKEN: 'x' },
      'no answer from http://127.0.0.1:9',
    ],
    ['no stack runs', { STACK_DIR: directory }, `${directory}/stack.json is missing: run npm start first`],
    [
      'a gateway is named without a token',
      { BACKOFFICE_URL: URL_OF_ADMIN },
      `set BACKOFFICE_TOKEN to an operator token of ${URL_OF_ADMIN}`,
    ],
    [
      'the token is none',
      { ...BOOTSTRAP, BACKOFFICE_TOKEN: 'op_1\nop_2' },
      'BACKOFFICE_TOKEN is no operator token: it',
    ],
    ['the address is no URL', { BACKOFFICE_URL: 'gateway', BACKOFFICE_TOKEN: 'x' }, 'gateway is no URL of a gateway'],
  ])('%s', async (_what, environment, message) => {
    const { code, errors } = await run('workspaces list', environment)
    expect([code, errors]).toEqual([1, expect.stringContaining(message)])
  })

  test.each([
    ['another program', '<html>', 'answered 200: is it a gateway?'],
    ['a gateway that ends meanwhile', undefined, 'no answer from'],
  ])('%s answers', async (_what, text, message) => {
    const server = createServer((_, response) => {
      if (text !== undefined) return response.end(text)
      response.writeHead(200, { 'content-length': 9 }).write('{')
      setImmediate(() => response.destroy())
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    whenDone(() => void server.close())
    const { port } = server.address() as AddressInfo
    const environment = { BACKOFFICE_URL: `http://127.0.0.1:${port}`, BACKOFFICE_TOKEN: 'x' }
    for (const [line, failed] of [
      ['workspaces list', 1],
      ['checks check-stock', 2],
    ] as const) {
      const { code, errors } = await run(line, environment)
      expect([code, errors]).toEqual([failed, expect.stringContaining(message)])
    }
  })

  test('a reader of the output that ends first ends the command without a word', async () => {
    const command = spawn('node', [join(import.meta.dirname, 'main.ts'), '--help'])
    command.stdout.destroy()
    const [errors, [code]] = await Promise.all([command.stderr.toArray(), once(command, 'exit')])
    expect([code, errors.join('')]).toEqual([141, ''])
  })

  test('a manifest that is no JSON is named', async () => {
    const file = join(directory, 'broken.json')
    writeFileSync(file, '{')
    const { code, errors } = await run(`apps register ${file} --origin https://pay.example.com`)
    expect([code, errors]).toEqual([1, expect.stringContaining(`${file} is no file with JSON`)])
  })
})

describe('dead letters and outboxes, with an operator token alone', () => {
  const AWAY = ROUTED_SERVICES.map((service) => ({ service, reason: `${service} does not answer now; try again` }))

  test('dead letters are found, read and sent again, and the services that do not answer are named', async () => {
    const kafka = connectKafka({
      brokers: backingServices().kafkaBrokers,
      prefix: gateway.kafkaPrefix,
      clientId: 'test',
      logger: silent,
    })
    whenDone(() => kafka.stop())
    const value = encoded({ type: 'app.acted', workspace_id: UNKNOWN })
    const place = { topic: 'apps.acts', partition: 0, offset: '4', producedAt: new Date() }
    await kafka.produce([deadLetter('gateway.acts', { ...place, key: 'k', value, headers: {} }, 'id: is missing')])
    const counted = { consumer: 'gateway.acts', letters: 1, parked_keys: 0, service: 'gateway' }
    expect(await json('dead-letters list')).toEqual({ consumers: [counted], unanswered: AWAY })
    const { items } = await json('dead-letters of gateway.acts')
    expect(items).toMatchObject([{ type: 'app.acted', workspace: UNKNOWN, reason: 'id: is missing', replayed: false }])
    const { id } = items[0]
    expect(await json(`dead-letters show ${id}`)).toMatchObject({ id, payload: { type: 'app.acted' } })
    expect((await json(`audit --workspace ${UNKNOWN}`)).items).toMatchObject([
      { who: 'operator', actor: 'bootstrap', action: 'dead_letter.read', target: `dead-letters/${id}` },
    ])
    const replay = `dead-letters replay gateway.acts --ids ${id}`
    const said = 'dead letters of gateway.acts sent to their topics again'
    expect((await run(replay)).output).toBe(`${said}: 1; sent by earlier runs: 0\n`)
    expect((await run(replay)).output).toBe(`${said}: 0; sent by earlier runs: 1\n`)
    expect((await json('audit --action dead_letters.replayed')).items).toHaveLength(2)
  })

  test('outboxes are counted, and their refused records listed and sent again', async () => {
    const [own] = (await json('outbox list')).services
    expect(own).toMatchObject({ service: 'gateway', held: 0, refused: 0 })
    expect(await json('outbox refused gateway')).toEqual({ items: [], has_next_page: false })
    expect(await json('outbox resend gateway')).toEqual({ resent: 0 })
    expect((await json('audit --action outbox.resent')).items).toMatchObject([{ target: 'outbox/gateway' }])
  })

  test.each([
    ['dead-letters of catalog', 'Consumer catalog does not exist'],
    ['dead-letters replay catalog.returns', 'catalog does not answer now; try again'],
    [`dead-letters replay catalog.returns --ids gateway.acts:1:0:0`, 'must be of a dead letter of catalog.returns'],
    ['dead-letters show gateway.acts:1:0:99', 'Dead letter gateway.acts:1:0:99 does not exist'],
    ['outbox refused webhook-delivery', 'service: '],
    ['outbox resend catalog --ids one', 'must be the id of a row: a number'],
  ])('%s fails and says why', async (line, message) => {
    const { code, errors } = await run(line)
    expect([code, errors]).toEqual([1, expect.stringContaining(message)])
  })
})

describe('wrong command lines exit 2, say what is wrong and name the usage in three lines', () => {
  test.each([
    ['', 'a command is missing'],
    ['workspaces', 'a command is missing'],
    ['nonsense', 'unknown command nonsense'],
    ['workspaces toString', 'unknown command toString'],
    ['workspaces list --foo', 'unknown option --foo'],
    ['workspaces list -x', 'unknown option -x'],
    ['workspaces list more', 'more is an argument too many'],
    ['audit --limit', '--limit: its value is missing'],
    ['keys rotate', 'Missing required positional argument: ID'],
    ['keys rotate ..', '.. is no id: an id is a UUID'],
    [`keys rotate ${UNKNOWN} --overlap-seconds soon`, '--overlap-seconds soon: must be a whole number'],
    [`workspaces delete ${UNKNOWN}`, 'confirm it with --yes'],
    [`workspaces settings ${UNKNOWN} --burst 5`, '--per-second and --burst go together'],
    ['outbox resend', 'Missing required positional argument: SERVICE'],
    ['dead-letters replay', 'Missing required positional argument: CONSUMER'],
    [`installations link ${UNKNOWN} --page other`, 'Expected one of: consent, embed'],
  ])('backoffice %s', async (line, message) => {
    const { code, output, errors } = await run(line)
    expect([code, output]).toEqual([2, ''])
    expect(errors).toContain(message)
    expect(errors).toMatch(/^[^\n]+\nUSAGE +backoffice[^\n]*\nbackoffice[a-z -]* --help says more\n$/)
  })

  test('--version is the version of the command and of its Node', async () => {
    for (const option of ['--version', '-v'])
      expect(await run(option)).toMatchObject({
        code: 0,
        output: expect.stringMatching(/^backoffice \S+ \(Node 2\d\./),
      })
  })

  test('--help shows the usage on standard output and exits 0', async () => {
    const { code, output } = await run('keys create --help')
    expect([code, output]).toEqual([0, expect.stringMatching(/USAGE backoffice keys create \[OPTIONS\] <WORKSPACE>/)])
  })
})

describe('the local stack', () => {
  const stack = mkdtempSync(join(tmpdir(), 'backoffice-cli-stack-'))
  whenDone(() => rmSync(stack, { recursive: true, force: true }))
  writeFileSync(join(stack, 'stack.json'), JSON.stringify({ gateway: URL_OF_ADMIN, admin_token: gateway.adminToken }))

  test('its address and token are read from stack.json, and BACKOFFICE_TOKEN replaces the token', async () => {
    expect((await json('workspaces list', { STACK_DIR: stack })).items).toBeInstanceOf(Array)
    expect((await run('workspaces list', { STACK_DIR: stack, BACKOFFICE_TOKEN: 'x' })).errors).toMatch(
      /invalid_api_key/,
    )
  })

  test('its token is not sent to another address', async () => {
    const { code, errors } = await run('workspaces list --url http://127.0.0.1:9', { STACK_DIR: stack })
    expect([code, errors]).toEqual([1, expect.stringContaining('set BACKOFFICE_TOKEN')])
  })
})

describe('checks', () => {
  const aRun = (members: object) => ({
    ...{
      id: UNKNOWN,
      check: 'check-stock',
      parameters: {},
      checked: { variants: 7 },
      found: 0,
      findings: [],
      error: null,
    },
    ...members,
  })
  let states: (object | undefined)[] = []
  const asked: unknown[] = []
  const api = createServer(async (request, response) => {
    asked.push([request.method, request.url, (await request.toArray()).join(''), request.headers.authorization])
    const state = states.shift()
    if (state === undefined) request.socket.destroy()
    else response.writeHead(200).end(JSON.stringify(aRun(state)))
  })
  beforeAll(async () => {
    await once(api.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => api.close())
  const token = join(directory, 'token')
  writeFileSync(token, 'op_of_checks\n')
  const check = (line: string, ...answers: (object | undefined)[]) => {
    states = answers
    asked.length = 0
    const { port } = api.address() as AddressInfo
    return run(`checks ${line}`, { BACKOFFICE_URL: `http://127.0.0.1:${port}`, BACKOFFICE_TOKEN_FILE: token })
  }
  const PENDING = { state: 'PENDING' }

  test('a check waits for the end of its run, also while the gateway is away, with the token of a file', async () => {
    const { code, output, errors } = await check('check-stock', PENDING, undefined, PENDING, { state: 'SUCCEEDED' })
    expect([code, output]).toEqual([0, 'check-stock: variants: 7, found: 0\n'])
    expect(errors).toBe(`check-stock ${UNKNOWN} is PENDING\n`)
    const path = '/admin/v1/checks/check-stock/runs'
    const get = ['GET', `${path}/${UNKNOWN}`, '', 'Bearer op_of_checks']
    expect(asked).toEqual([['POST', path, '{}', 'Bearer op_of_checks'], get, get, get])
  })

  test('findings are printed as lines of JSON, and exit 1', async () => {
    const found = { state: 'SUCCEEDED', found: 1, findings: [{ variant: 'a' }, { variant: 'b', tooYoung: true }] }
    expect(await check('check-stock', found)).toEqual({
      code: 1,
      output: '{"variant":"a"}\n{"variant":"b","tooYoung":true}\ncheck-stock: variants: 7, found: 1\n',
      errors: '',
    })
  })

  test('a run that could not finish exits 2 and says why', async () => {
    const { code, errors } = await check('reconcile --kafka-prefix none --margin 5', {
      state: 'FAILED',
      error: 'no Kafka',
    })
    expect([code, errors]).toEqual([2, 'reconcile could not finish: no Kafka\n'])
    expect(asked).toMatchObject([
      ['POST', expect.anything(), '{"kafka_prefix":"","margin_minutes":5}', expect.anything()],
    ])
    const away = await check('check-stock', undefined)
    expect([away.code, away.errors]).toEqual([2, expect.stringContaining('check-stock could not finish: no answer')])
  })
})
