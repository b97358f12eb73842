import { SERVICE_NAMES, SERVICES } from '@backoffice/contracts/services.ts'
import { topics } from '@backoffice/contracts/topics.ts'
import { TopicsConfig } from '@backoffice/jobs/config.ts'
import { declaredTopic } from '@backoffice/messaging/kafka/create-topics.ts'
import { describedSettings } from './configuration-document.ts'
import { table } from './markdown-table.ts'

const standard = (setting: keyof typeof TopicsConfig.shape) =>
  Number(describedSettings(TopicsConfig.shape).find(({ name }) => name === setting)?.standard)
const [partitions, copies] = [standard('KAFKA_PARTITIONS'), standard('KAFKA_REPLICATION_FACTOR')]

const INTRODUCTION = `# Topics

\`npm run generate:topics\` writes this page.

The job \`topics\` creates these topics, and [compares](operations.md#topics-that-are-not-as-declared) those that exist. When something else declares
them (Terraform, an operator for Kafka), it declares all that is here, with \`KAFKA_PREFIX\` before each name. Brokers create no topic by themselves
(\`auto.create.topics.enable=false\`).

The numbers are those of [the settings](configuration.md#jobs) unless set. Dead letters are few, and always have as many partitions as here.`

/** The text of docs/topics.md. */
export function topicsDocument(): string {
  const declared = topics(partitions).map((topic) => declaredTopic(topic, copies))
  const settings = [...new Set(declared.flatMap(({ config }) => Object.keys(config)))]
  /** The topics with the same settings share a row. */
  const alike = new Map<string, string[]>()
  for (const { name, partitions, replicas, config } of declared) {
    const row = [partitions, replicas, ...settings.map((setting) => readable(setting, config[setting]))].join(' | ')
    alike.set(row, [...(alike.get(row) ?? []), `\`${name}\``])
  }
  const users = topics(partitions)
    .filter(({ name, readers }) => readers.length > 0 || publishersOf(name) !== DEAD_LETTERS)
    .map(({ name, readers }) => [`\`${name}\``, publishersOf(name), readers.join(', ') || '–'])
  const sections = [
    INTRODUCTION,
    table(
      ['topics', 'partitions', 'copies', ...settings.map((setting) => `\`${setting}\``)],
      [...alike].map(([row, names]) => [names.join(', '), row]),
    ),
    '## Who uses them',
    `A consumer group has the name of its consumer, with \`KAFKA_PREFIX\` before it. Each consumer publishes to its \`<consumer>.dead-letters\`, which no
group reads but those below.`,
    table(['topic', 'published by', 'consumer groups'], users),
  ]
  return `${sections.join('\n\n')}\n`
}

/** The value of a setting of a topic, of times with their days. */
const readable = (setting: string, value = '–') =>
  setting.endsWith('.ms') && value !== '–' ? `${value} (${Number(value) / 86_400_000} days)` : value

const DEAD_LETTERS = 'its consumer'

function publishersOf(topic: string): string {
  const services = SERVICE_NAMES.filter((name) => SERVICES[name].publishes.some((published) => published === topic))
  if (services.length > 0) return services.join(', ')
  return topic.endsWith('.dead-letters') ? DEAD_LETTERS : 'others'
}
