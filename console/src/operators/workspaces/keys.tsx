import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin, bodyOf } from '../../api/client.ts'
import { Act, useAction } from '../../parts/action.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { FormDialog, fieldOf } from '../../parts/form-dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { GrantBoxes, Scopes, scopesOf } from '../../parts/scopes.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Long, nameIn, Time } from '../../parts/text.tsx'

interface Key {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly scopes: readonly string[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly revoked_at: string | null
}

const MOST = 100
const DAY_MS = 86_400_000

/** REVOKED and EXPIRED are ends; a key that was rotated with an overlap works until then. */
function stateOf({ revoked_at, expires_at }: Key): 'ACTIVE' | 'REVOKED' | 'EXPIRED' {
  const isOver = (at: string | null) => at !== null && Date.parse(at) <= Date.now()
  if (isOver(revoked_at)) return 'REVOKED'
  return isOver(expires_at) ? 'EXPIRED' : 'ACTIVE'
}

/** The API keys of a workspace, with their last use. */
export function Keys({ workspace: id }: { readonly workspace: string }) {
  const [isNew, setIsNew] = useState(false)
  const [rotated, setRotated] = useState<Key>()
  const [secret, setSecret] = useState<string>()
  const keys = useQuery({
    queryKey: ['operators', 'keys', id],
    queryFn: () =>
      bodyOf(admin.GET('/admin/v1/workspaces/{id}/keys', { params: { path: { id }, query: { limit: MOST } } })),
  })
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
      cell: (key) => (stateOf(key) === 'ACTIVE' ? <KeyActs of={key} onRotate={() => setRotated(key)} /> : '–'),
      isShort: true,
    },
  ]
  return (
    <Section
      title="Keys"
      actions={
        <button type="button" onClick={() => setIsNew(true)}>
          New key
        </button>
      }
    >
      <Answer of={keys}>
        {({ items, total }) => (
          <>
            {items.length === 0 ? (
              <p className="quiet">The workspace has no key yet.</p>
            ) : (
              <Table label="Keys" rows={items} keyOf={(key) => key.id} columns={columns} />
            )}
            {total > MOST && (
              <p className="quiet">
                The first {MOST} of {total.toLocaleString()}.
              </p>
            )}
          </>
        )}
      </Answer>
      {isNew && <NewKey workspace={id} onKey={setSecret} onClose={() => setIsNew(false)} />}
      {rotated && <Rotate of={rotated} onKey={setSecret} onClose={() => setRotated(undefined)} />}
      {secret && <ShownOnce title="The new key" secret={secret} onClose={() => setSecret(undefined)} />}
    </Section>
  )
}

function KeyActs({ of: key, onRotate }: { readonly of: Key; readonly onRotate: () => void }) {
  const path = { params: { path: { id: key.id } } }
  const revoke = useAction(() => bodyOf(admin.DELETE('/admin/v1/keys/{id}', path)), {
    done: 'The key is revoked. It works no more.',
    changes: ['operators'],
  })
  return (
    <span className="actions">
      <button type="button" onClick={onRotate}>
        Rotate
      </button>
      <Act
        className="danger"
        isBusy={revoke.isPending}
        question={`Revoke the key ${nameIn(key.name)}? What uses it is refused at once.`}
        onAct={() => revoke.mutate()}
      >
        Revoke
      </Act>
    </span>
  )
}

interface KeyDialogProps {
  readonly onKey: (secret: string) => void
  readonly onClose: () => void
}

const LIFETIMES = [
  ['', 'never'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
]

function NewKey({ workspace: id, onKey, onClose }: KeyDialogProps & { readonly workspace: string }) {
  return (
    <FormDialog
      title="New key"
      submit="Create"
      done="The key is there."
      changes={['operators']}
      send={async (form) => {
        const days = fieldOf(form, 'days')
        const expires_at = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
        // The API checks them, too.
        const scopes = scopesOf(form) as '*'[]
        if (scopes.length === 0) throw new Error('Choose what the key may do.')
        const body = { name: fieldOf(form, 'name'), scopes, expires_at }
        return bodyOf(admin.POST('/admin/v1/workspaces/{id}/keys', { params: { path: { id } }, body }))
      }}
      onDone={({ key }) => {
        onClose()
        onKey(key)
      }}
      onClose={onClose}
    >
      <label>
        Name, for whom it is
        <input name="name" required maxLength={255} placeholder="Storefront" />
      </label>
      <label>
        Ends
        <select name="days">
          {LIFETIMES.map(([days, text]) => (
            <option key={days} value={days}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <GrantBoxes />
    </FormDialog>
  )
}

const OVERLAPS = [
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
  ['0', 'at once'],
]

function Rotate({ of: { id, name, kind }, onKey, onClose }: KeyDialogProps & { readonly of: Key }) {
  const isApps = kind === 'app'
  return (
    <FormDialog
      title="Replace the key by a new one?"
      submit="Rotate"
      done={isApps ? 'The app gets a new key.' : 'The key is replaced.'}
      changes={['operators']}
      send={(form) => {
        const body = isApps ? {} : { overlap_seconds: Number(fieldOf(form, 'overlap')) }
        return bodyOf(admin.POST('/admin/v1/keys/{id}/rotate', { params: { path: { id } }, body }))
      }}
      onDone={(issued) => {
        onClose()
        if ('key' in issued) onKey(issued.key)
      }}
      onClose={onClose}
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
            {OVERLAPS.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
      )}
    </FormDialog>
  )
}
