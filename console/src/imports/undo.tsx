import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, type components } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { ApiAct, counted } from '../parts/action.tsx'
import { Facts, Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Badge, Long } from '../parts/text.tsx'
import { isUndoable } from './states.ts'

type Import = components['schemas']['Import']
type KeptRow = components['schemas']['ImportKeptRow']

const LIVE_MS = 1_000
const QUESTION = 'Undo this import? What it made is deleted, and what it changed gets its former values back.'

const COLUMNS: readonly Column<KeptRow>[] = [
  { head: 'Kept', cell: ({ key }) => <Long text={key} most={80} /> },
  { head: 'Why', cell: ({ reason }) => <Long text={reason} /> },
]

/** Takes back what an import did, and says what was kept. */
export function Undo({ of: one }: { readonly of: Import }) {
  const path = { params: { path: { id: one.id } } }
  const undo = useQuery({
    queryKey: ['imports', one.id, 'undo'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/imports/{id}/undo', path))),
    refetchInterval: ({ state }) => (state.data?.status === 'RUNNING' ? LIVE_MS : false),
  })
  const isOffered = undo.data?.status === 'FAILED' || (undo.data === null && isUndoable(one))
  if (undo.data === null && !isOffered) return null
  return (
    <Section
      title="Undo"
      actions={
        isOffered && (
          <ApiAct
            needs="import::create"
            className="danger"
            question={QUESTION}
            act={() => bodyOf(api.POST('/v1/imports/{id}/undo', path))}
            done="The import is being undone."
            changes={['imports']}
          >
            Undo the import
          </ApiAct>
        )
      }
      of={undo}
    >
      {(found) =>
        found === null ? (
          <p className="quiet">
            Within 24 hours of its end an import can be taken back. What somebody has changed since is kept.
          </p>
        ) : (
          <>
            {found.status === 'RUNNING' && <progress aria-label="Undo" />}
            <Facts
              of={{
                State: <Badge state={found.status} />,
                Deleted: found.deleted.toLocaleString(),
                'Put back': found.restored.toLocaleString(),
                Kept: found.kept.toLocaleString(),
              }}
            />
            {found.rows.length > 0 && (
              <>
                <p>
                  {counted(found.kept, 'was', 'were')} kept as {found.kept === 1 ? 'it is' : 'they are'}:
                </p>
                <Table label="Kept" rows={found.rows} keyOf={({ key }) => key} columns={COLUMNS} />
              </>
            )}
          </>
        )
      }
    </Section>
  )
}
