import type { components } from '../api/client.ts'
import { Table } from './table.tsx'

type LimitsOfWorkspace = components['schemas']['Limits']
type Limit = LimitsOfWorkspace['limits'][number]

const NAMES: Readonly<Record<string, string>> = {
  requests_per_minute: 'Requests a minute, of each key',
  requests_at_once: 'Requests at once, of each key',
  asset_bytes: 'Files of products',
  import_bytes: 'Files of imports',
  imports_to_validate: 'Imports that wait to be checked',
  imports_to_apply: 'Imports that wait to be applied',
  webhook_endpoints: 'Webhook endpoints',
  webhook_endpoints_of_an_app: 'Webhook endpoints of one app',
}

/** A limit in words. More limits may come. */
export const limitName = (name: string): string => NAMES[name] ?? name.replaceAll('_', ' ')

/** What a workspace may have, and has. */
export const Limits = ({ of: { limits, unanswered } }: { readonly of: LimitsOfWorkspace }) => (
  <>
    {unanswered.length > 0 && (
      <p className="notice">{unanswered.join(', ')} did not answer, so some limits are missing here.</p>
    )}
    <Table
      label="Limits"
      rows={limits}
      keyOf={({ name }) => name}
      columns={[
        { head: 'Limit', cell: ({ name }) => limitName(name) },
        { head: 'In use', cell: (limit) => <Use of={limit} /> },
      ]}
    />
  </>
)

/** The answers to requests tell the use of what has no count. */
const Use = ({ of: { name, used, most } }: { readonly of: Limit }) =>
  used === null ? (
    <span className="number">at most {amountText(name, most)}</span>
  ) : (
    <span className="use number">
      <progress max={Math.max(most, 1)} value={Math.min(used, most)} aria-label={limitName(name)} />
      {`${amountText(name, used)} of ${amountText(name, most)}`}
    </span>
  )

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** An amount of what is limited: a count, or bytes as `48.2 MB`. */
function amountText(name: string, amount: number): string {
  if (!name.endsWith('_bytes')) return amount.toLocaleString()
  const power = amount === 0 ? 0 : Math.min(Math.floor(Math.log10(amount) / 3), UNITS.length - 1)
  const format = { style: 'unit', unit: UNITS[power] ?? 'byte', maximumFractionDigits: 1 } as const
  return (amount / 1000 ** power).toLocaleString(undefined, format)
}
