import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { grafanaDashboards } from '@backoffice/generate/grafana-dashboards.ts'
import { startReplica } from '@backoffice/local/replica.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { startConnectProxy } from '@backoffice/outbound/testing/connect-proxy.ts'
import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { apiWith } from './testing/api.ts'
import { backofficeIn } from './testing/backoffice.ts'
import { fullWorkspace } from './testing/full-workspace.ts'
import { importsOf, productRows } from './testing/imports.ts'
import { ordersOf } from './testing/orders.ts'
import { ownBroker } from './testing/own-broker.ts'
import { aProduct } from './testing/products.ts'
import { promtool, startPrometheus } from './testing/prometheus.ts'
import { startStack } from './testing/stack.ts'
import { kafkaPrefixOf } from './testing/stack-process.ts'
import { postgresStandsStill, serviceStandsStill } from './testing/stand-still.ts'
import { newWorkspace } from './testing/workspaces.ts'

interface Rule {
  readonly name: string
  readonly query: string
  readonly type: 'alerting' | 'recording'
  readonly state?: string
  readonly health: string
  readonly lastError?: string
}

/** Alerts on the share of what took long: a busy machine raises it. */
const OF_SLOWNESS = /slow_reads|late_|stale_/
/** What has no data while all is well, and why. */
const EMPTY_IN_HEALTH: Readonly<Record<string, string>> = {
  '5xx by service and route': 'nothing fails',
  'Rate limit server: answers (1) or not (0)': 'the stack has none',
  'Rate limit server: calls by outcome': 'the stack has none',
  'Requests that the request log lacks, of an hour': 'it lacks none',
  'Dead letters without their value, of an hour': 'Kafka takes every value',
  'Outbox: rows refused in an hour': 'Kafka takes every row',
  'Statements that took too long, of an hour': 'no statement does',
  'Releases of reservations that failed at once': 'PostgreSQL and catalog answer',
  'Outbox: without a topic, or a schema': 'Kafka has every topic, and the registry every schema',
  'Failures of work in the background': 'nothing fails',
  'Calls to apps by outcome': 'no app is installed',
  'Requests to apps by outcome': 'no app is installed',
  'Duration of requests to apps, p99': 'no app is installed',
}
/** Metrics of rules that a healthy local stack does not have. */
const ABSENT_IN_HEALTH: Readonly<Record<string, string>> = {
  app_calls_total: 'no app is installed',
  outbox_topic_failures_total: 'Kafka has every topic',
  outbox_schema_failures_total: 'the registry answers',
  worker_failures_total: 'nothing fails',
  rate_limit_server_up: 'the stack has no such server',
  webhook_attempts_unwritable_total: 'PostgreSQL takes each attempt as it is',
  kube_deployment_spec_replicas: 'there is no Kubernetes',
  kube_deployment_status_replicas_available: 'there is no Kubernetes',
  kubelet_volume_stats_available_bytes: 'there is no Kubernetes',
  kubelet_volume_stats_capacity_bytes: 'there is no Kubernetes',
}

const files = (...names: string[]) => names.map((name) => `infra/prometheus/${name}`)

it('promtool accepts the configuration and the rules, and the rules fire as their tests say', async () => {
  const rules = files('rules/recording.yml', 'rules/slo-alerts.yml', 'rules/alerts.yml')
  await promtool('check', 'config', ...files('prometheus.yml'))
  await promtool('check', 'rules', ...rules)
  const tests = files('tests/requests.yml', 'tests/events.yml', 'tests/minutes.yml', 'tests/days.yml')
  await promtool('test', 'rules', ...tests)
})

describe('with a live stack', async () => {
  const broker = await ownBroker()
  const egress = await startConnectProxy()
  const settings = { KAFKA_BROKERS: broker.brokers.join(), EGRESS_PROXY_URL: `http://${egress.address}` }
  const [stack, receiver] = await Promise.all([startStack(settings), startReceiver()])
  const [prometheus, drill] = await Promise.all([startPrometheus(stack), startPrometheus(stack, { isDrill: true })])
  const names = () => prometheus.get<string[]>('/api/v1/label/__name__/values')
  const allRules = async () =>
    (await prometheus.get<{ groups: { rules: Rule[] }[] }>('/api/v1/rules')).groups.flatMap(({ rules }) => rules)

  /** Waits until Prometheus has every metric in these expressions. */
  const untilKnown = async (expressions: readonly string[], kind: 'any' | 'of services') => {
    const needed = expressions
      .flatMap(metricsIn)
      .filter((metric) => !(metric in ABSENT_IN_HEALTH) && (kind === 'any' || !metric.includes(':')))
    let missing: ReadonlySet<string> = new Set()
    await eventually('Prometheus has the metrics', async () => {
      const known = await names()
      missing = new Set(needed.filter((metric) => !known.includes(metric)))
      return missing.size === 0
    }).catch((error: Error) => expect.fail(`${error.message}; it misses ${[...missing]}`))
  }

  it('every panel of every dashboard shows data after some traffic', async () => {
    const rules = (await allRules()).map(({ query }) => query)
    const panels = [...grafanaDashboards()].flatMap(([file, json]) => panelsIn(file, json))
    const shown = panels.filter(({ title }) => !(title in EMPTY_IN_HEALTH))
    // A rate needs two readings of a counter: the series of the first round grow in the second one.
    for (let round = 0; round < 2; round++) {
      const workspace = await fullWorkspace(stack, receiver.url)
      await workspace.api('GET', '/v1/products/none')
      const imports = importsOf(stack, workspace)
      const { body: uploaded } = await imports.upload('products', productRows(3 + round))
      await imports.atRest(uploaded.id)
      await imports.start(uploaded.id)
      await imports.until(uploaded.id, 'is completed', ({ status }) => status === 'COMPLETED')
      await untilKnown([...rules, ...shown.map(({ expression }) => expression)], 'of services')
    }
    for (const { expression } of panels) await prometheus.query(expression)
    for (const { name, expression } of shown) {
      const numbers = async () => (await prometheus.query(expression)).some(({ value: [, value] }) => value !== 'NaN')
      await eventually(name, numbers, 40_000)
    }
  })

  it('every rule is evaluated, its metrics exist, and no alert fires but for slowness', async () => {
    const queries = (await allRules()).map(({ query }) => query)
    await untilKnown(queries, 'any')
    const rules = await allRules()
    expect(rules.length).toBeGreaterThan(35)
    for (const { name, health, lastError } of rules) expect([name, health, lastError ?? '']).toEqual([name, 'ok', ''])
    const firing = rules.filter(({ state, query }) => state === 'firing' && !OF_SLOWNESS.test(query))
    expect(firing.map(({ name }) => name)).toEqual([])
  })

  it('every metric of the services is in docs/metrics.md', async () => {
    const document = readFileSync('docs/metrics.md', 'utf8')
    const own = (
      await prometheus.get<{ __name__: string }[]>(`/api/v1/series?match[]=${encodeURIComponent('{job="backoffice"}')}`)
    ).map(({ __name__: name }) => name.replace(/_(bucket|sum|count)$/, ''))
    const unknown = [...new Set(own)].filter((name) => !/^(up|scrape_.*|ALERTS.*)$/.test(name) && !name.includes(':'))
    expect(unknown.filter((name) => !document.includes(`\`${name}\``))).toEqual([])
  })

  it('no label names a workspace, a key or a product', async () => {
    const labels = await prometheus.get<string[]>('/api/v1/labels')
    for (const label of labels) {
      const values = await prometheus.get<string[]>(`/api/v1/label/${label}/values`)
      expect(
        values.filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(value)),
        label,
      ).toEqual([])
      expect(values.length, label).toBeLessThan(label === '__name__' ? 400 : 120)
    }
  })

  const firing = () => drill.query('ALERTS{alertstate="firing"}')
  /** Waits until an alert of the drills fires whose labels have all these values. */
  const fires = (name: string, ...values: string[]) =>
    eventually(`${name} ${values} fires`, async () =>
      (await firing()).some(
        ({ metric }) => metric.alertname === name && values.every((value) => Object.values(metric).includes(value)),
      ),
    )
  const nothingFires = () =>
    eventually('all alerts end', async () => (await firing()).length === 0).catch(async (error: Error) =>
      expect.fail(`${error.message}: ${JSON.stringify(await firing())}`),
    )

  /** Waits until a drill can begin, and ends the Prometheus of the other tests. */
  async function beforeDrill() {
    await prometheus.stop()
    // Counters that begin with Prometheus itself fire nothing.
    const hasPast = async () => (await drill.query('up{job="backoffice"} offset 10s')).length > 0
    await eventually('Prometheus has a past', hasPast)
    await nothingFires()
  }

  it('alerts fire when what they name happens, and end with it', async () => {
    await beforeDrill()
    const { sql } = stack
    const workspace = await newWorkspace(stack.description())
    const { api } = workspace
    const prefix = kafkaPrefixOf(stack.directory)
    const kafka = connectKafka({ brokers: broker.brokers, clientId: 'test', prefix, logger: silent })
    whenDone(() => kafka.stop())
    const instanceOf = (service: string) => new URL(stack.description().services[service]?.operations ?? '').host

    await sql`
      insert into catalog.outbox (event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at)
      values
        (gen_random_uuid(), 'catalog.events', 'x', 'product.unheard_of', ${workspace.id}, true, '{}', '', now()),
        (gen_random_uuid(), 'catalog.unheard_of', 'x', 'product.state', ${workspace.id}, true, null, '', now())`
    await sql`revoke all on webhook_delivery.event from webhook_delivery_worker`
    const importsGoOn = serviceStandsStill(stack, 'imports')
    const unreached = await startReplica('orders', stack.directory, stack.description(), {
      settings: { KAFKA_BROKERS: '127.0.0.1:9' },
    })
    whenDone(() => unreached.process.stop())
    drill.scrape('orders', unreached.operations)
    const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
    const smart = { name: 'All', membership_type: 'SMART', sort_order: 'TITLE_ASC', rules: inStock }
    const { body: collection } = await api<{ id: string }>('POST', '/v1/collections', smart)
    const newer = JSON.stringify({ ...inStock, except: [] })
    // A replica that starts with a bad record before it: no series of it was ever 0.
    const nonsense = { topic: 'catalog.products', key: 'nonsense', value: Buffer.from('nonsense'), headers: {} }
    stack.kill('collections')
    await kafka.produce([nonsense])
    const early = [
      fires('DeadLetters', 'collections.products'),
      fires('KafkaNotReached', new URL(unreached.operations).host),
      fires('OutboxRowsHeld', 'catalog'),
      fires('OutboxTopicMissing', 'catalog.unheard_of'),
      fires('ServiceDown', instanceOf('imports')),
    ]
    await sql`update collections.collection set rules = ${newer}::text::json where id = ${collection.id}`
    await sql`update collections.membership_version set rules = ${newer}::text::json where collection_id = ${collection.id}`
    await sql`update collections.rule_version set version = version + 1`
    await api('POST', '/v1/products', aProduct())
    await fires('CollectionRulesUnreadable', instanceOf('collections'))

    await kafka.configureTopic('catalog.products', { 'max.message.bytes': '300' })
    await api('POST', '/v1/products', aProduct())
    await Promise.all([
      ...early,
      fires('OutboxRowsRefused', 'catalog'),
      fires('RecordsWaiting', 'webhook-delivery.fan-out'),
      fires('ConsumerStalled', 'webhook-delivery.fan-out'),
    ])
    await unreached.process.stop()
    drill.forget(unreached.operations)
    importsGoOn()
    await api('PUT', `/v1/collections/${collection.id}`, { rules: inStock })
    await kafka.configureTopic('catalog.products', { 'max.message.bytes': '1048588' })
    await sql`grant select, insert, update, delete on webhook_delivery.event to webhook_delivery_worker`
    await sql`delete from catalog.outbox where type = 'product.unheard_of' or topic = 'catalog.unheard_of'`
    await backofficeIn(stack.directory, 'outbox', 'resend', 'catalog')
    await nothingFires()

    const { place, variant } = ordersOf(stack, api)
    const { body: cart } = await place([{ variant: await variant(1), quantity: 1 }], { status: 'CART' })
    const imports = importsOf(stack, workspace)
    const { body: uploaded } = await imports.upload('products', productRows(3))
    await imports.atRest(uploaded.id)
    const catalogGoesOn = serviceStandsStill(stack, 'catalog')
    broker.signal('SIGSTOP')
    onTestFinished(() => broker.signal('SIGCONT'))
    await imports.start(uploaded.id)
    await api('POST', `/v1/orders/${cart.id}/payments`, { amount: 450_000, currency: 'NGN', reference: 'r1' })
    await Promise.all([
      fires('OutboxNotPublished', 'imports'),
      fires('MeasurementsStopped', instanceOf('collections')),
      fires('PaidOrdersNotPlaced'),
      fires('ImportsStuck', 'applying'),
    ])
    broker.signal('SIGCONT')
    catalogGoesOn()
    await nothingFires()

    const postgresGoesOn = await postgresStandsStill(stack)
    await Promise.all([fires('MeasurementsStopped', instanceOf('catalog')), fires('WebhookShardsUnowned')])
    postgresGoesOn()
    await nothingFires()
  }, 400_000)

  it('alerts on shares, on queues and on calls of apps fire too, and end with their cause', async () => {
    await beforeDrill()
    const admin = apiWith(stack.description().gateway, stack.description().admin_token)
    const { id, api } = await newWorkspace(stack.description())
    const anotherProduct = async () => {
      await api('POST', '/v1/products', aProduct())
      await pause(1000)
    }

    egress.refuseWith(403)
    await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['product.created'] })
    // As a build of the workspace's memberships that does not end; each batch that waits for it takes long.
    const build = await stack.sql.reserve()
    await build`select pg_advisory_lock(${ADVISORY_LOCKS.membership}::integer, hashtext(${id}))`
    await build.unsafe(`
      create function collections.drill() returns trigger language plpgsql
        as 'begin perform pg_sleep(6); return null; end';
      create trigger drill after insert on collections.queued_product
        for each statement execute function collections.drill()`)
    const late = [
      fires('WebhookEgressFailing'),
      fires('ProjectionStale'),
      fires('ConsumerBehind', 'collections.products'),
    ]
    await during(Promise.all(late), anotherProduct)
    egress.refuseWith(undefined)
    await build.unsafe('drop function collections.drill cascade; select pg_advisory_unlock_all()')
    build.release()

    const hangs = await startReceiver()
    hangs.answerWith(() => undefined)
    const manifest = { provider: 'hangs', name: 'Hangs', scopes: ['sale::create'], embed: '/embed' }
    const { body: app } = await admin<{ id: string }>('POST', '/admin/v1/apps', { origin: hangs.url, manifest })
    const installed = async () => {
      const workspace = await newWorkspace(stack.description())
      const path = `/admin/v1/workspaces/${workspace.id}/installations`
      const { body: installation } = await admin<{ id: string }>('POST', path, { provider: 'hangs' })
      await admin('POST', `/admin/v1/installations/${installation.id}/consent`, {})
    }
    await Promise.all(Array.from({ length: 16 }, installed))
    let killed: number | undefined
    const ordersIsAway = async () => {
      const pid = stack.description().services.orders?.pid
      if (pid !== killed) stack.kill('orders')
      killed = pid
      await Promise.all(Array.from({ length: 30 }, () => api('GET', '/v1/orders')))
    }
    await Promise.all([fires('AppCallsOverdue', 'provision'), during(fires('ApiAvailabilityBurnFast'), ordersIsAway)])
    await admin('POST', `/admin/v1/apps/${app.id}/suspend`, { reason: 'it hangs' })
    await nothingFires()
  }, 240_000)
})

/** Does something again and again until a wait ends. */
async function during(wait: Promise<unknown>, act: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const over = wait.finally(() => (isOver = true))
  over.catch(() => undefined)
  while (!isOver) await act()
  await over
}

/** What the panels of a dashboard ask for, over all services. */
function panelsIn(file: string, json: string) {
  const { panels } = JSON.parse(json) as { panels: { title: string; targets: { expr: string }[] }[] }
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => {
      const expression = expr.replaceAll('$__rate_interval', '2m').replaceAll('$service', '.*')
      return { title, expression, name: `${file}: ${title}: ${expression}` }
    }),
  )
}

const WORDS = new Set(['and', 'or', 'unless', 'by', 'on', 'sum', 'max', 'min'])

/** The names of metrics in an expression. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|offset \w+/g, ' ')
    .replaceAll(/\b(by|on|without)\s*\([^)]*\)/g, ' ')
  return [...bare.matchAll(/[a-z_][a-z0-9_:]*(?!\s*\(|[a-z0-9_:])/g)]
    .map(([name]) => name)
    .filter((name) => !WORDS.has(name))
}
