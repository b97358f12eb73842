import { useRef } from 'react'
import { admin, bodyOf } from '../../api/client.ts'
import { ApiAct } from '../../parts/action.tsx'
import { Options } from '../../parts/filters.tsx'
import { FormButton, fieldOf } from '../../parts/form-dialog.tsx'
import { PartList } from '../../parts/list.tsx'
import { Section } from '../../parts/page.tsx'
import { GrantBoxes, Scopes, scopesOf } from '../../parts/scopes.tsx'
import { ShownOnce, useSecret } from '../../parts/shown-once.tsx'
import type { Column } from '../../parts/table.tsx'
import { Badge, Long, nameIn, Time } from '../../parts/text.tsx'

const readKeys = (id: string, query: { readonly page: number }) =>
  bodyOf(admin.GET('/admin/v1/workspaces/{id}/keys', { params: { path: { id }, query } }))
type Key = Awaited<ReturnType<typeof readKeys>>['items'][number]

const DAY_MS = 86_400_000

/** REVOKED and EXPIRED are ends; a key that was rotated with an overlap works until then. */
function stateOf({ revoked_at, expires_at }: Key): 'ACTIVE' | 'REVOKED' | 'EXPIRED' {
  const isOver = (at: string | null) => at !== null && Date.parse(at) <= Date.now()
  if (isOver(revoked_at)) return 'REVOKED'
  return isOver(expires_at) ? 'EXPIRED' : 'ACTIVE'
}

/** The API keys of a workspace, with their last use. */
export function Keys({ workspace: id }: { readonly workspace: string }) {
  const [secret, setSecret] = useSecret()
  const columns: readonly Column<Key>[] = [
    {
      head: 'Key',
      cell: ({ name, kind }) => (
        <span>
          <Long text={name} most={60} /> {kind === 'app' && <Badge state="OF_AN_APP" />}
        </span>
      ),
    },
    { head: 'State', cell: (key) => <Badge state={stateOf(key)} /> },
    { head: 'May do', cell: ({ scopes }) => <Scopes of={scopes} /> },
    { head: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
    { head: 'Ends', cell: ({ revoked_at, expires_at }) => <Time at={revoked_at ?? expires_at} /> },
    {
      head: 'Change',
      cell: (key) => (stateOf(key) === 'ACTIVE' ? <KeyActs of={key} onKey={setSecret} /> : '–'),
      isShort: true,
    },
  ]
  return (
    <Section title="Keys" actions={<NewKey workspace={id} onKey={setSecret} />}>
      <PartList
        name={['operators', 'keys', id]}
        read={(query) => readKeys(id, query)}
        label="Keys"
        columns={columns}
        empty="The workspace has no key yet."
      />
      {secret && <ShownOnce title="The new key" secret={secret} onClose={() => setSecret(undefined)} />}
    </Section>
  )
}

interface OnKey {
  readonly onKey: (secret: string) => void
}

const KeyActs = ({ of: key, onKey }: OnKey & { readonly of: Key }) => (
  <span className="actions">
    <Rotate of={key} onKey={onKey} />
    <ApiAct
      className="danger"
      question={`Revoke the key ${nameIn(key.name)}? What uses it is refused at once.`}
      act={() => bodyOf(admin.DELETE('/admin/v1/keys/{id}', { params: { path: { id: key.id } } }))}
      done="The key is revoked. It works no more."
      changes={['operators']}
    >
      Revoke
    </ApiAct>
  </span>
)

const LIFETIMES = [
  ['', 'never'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const

function NewKey({ workspace: id, onKey }: OnKey & { readonly workspace: string }) {
  // What is sent again ends at the same time: else it would be another key.
  const first = useRef({ once: '', at: 0 })
  return (
    <FormButton
      title="New key"
      submit="Create"
      done="The key is there."
      changes={['operators']}
      send={async (form, once) => {
        if (first.current.once !== once) first.current = { once, at: Date.now() }
        const days = fieldOf(form, 'days')
        const expires_at = days === '' ? null : new Date(first.current.at + Number(days) * DAY_MS).toISOString()
        // The API checks them, too.
        const scopes = scopesOf(form) as '*'[]
        if (scopes.length === 0) throw new Error('Choose what the key may do.')
        const body = { name: fieldOf(form, 'name'), scopes, expires_at }
        return bodyOf(admin.POST('/admin/v1/workspaces/{id}/keys', { params: { path: { id } }, body }))
      }}
      onDone={({ key }) => onKey(key)}
    >
      <label>
        Name, for whom it is
        <input name="name" required maxLength={255} placeholder="Storefront" />
      </label>
      <label>
        Ends
        <select name="days">
          <Options of={LIFETIMES} />
        </select>
      </label>
      <GrantBoxes />
    </FormButton>
  )
}

const OVERLAPS = [
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
  ['0', 'at once'],
] as const

function Rotate({ of: { id, name, kind }, onKey }: OnKey & { readonly of: Key }) {
  const isApps = kind === 'app'
  return (
    <FormButton
      label="Rotate"
      title="Replace the key by a new one?"
      submit="Rotate"
      done={isApps ? 'The app gets a new key.' : 'The key is replaced.'}
      changes={['operators']}
      send={(form) => {
        const body = isApps ? {} : { overlap_seconds: Number(fieldOf(form, 'overlap')) }
        return bodyOf(admin.POST('/admin/v1/keys/{id}/rotate', { params: { path: { id } }, body }))
      }}
      onDone={(issued) => 'key' in issued && onKey(issued.key)}
    >
      <p>
        <Long text={name} /> gets a new key that may do the same.
      </p>
      {isApps ? (
        <p className="quiet">
          The app is called with it. The old key works until the app has acknowledged the new one.
        </p>
      ) : (
        <label>
          The old key ends
          <select name="overlap">
            <Options of={OVERLAPS} />
          </select>
        </label>
      )}
    </FormButton>
  )
}
