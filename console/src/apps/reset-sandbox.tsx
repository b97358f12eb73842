import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { ApiAct } from '../parts/action.tsx'
import { Section } from '../parts/page.tsx'
import { Time } from '../parts/text.tsx'
import { useCan, useWorkspaceSession } from '../session/session.ts'

const BUSY_MS = 3_000

/** Lets a sandbox start anew, and says how far the last reset is. */
export function ResetSandbox() {
  const { id } = useWorkspaceSession().workspace
  const can = useCan()
  const queries = useQueryClient()
  const last = useQuery({
    queryKey: ['apps', 'reset'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/sandbox/reset'))),
    enabled: can('workspace::read'),
    refetchInterval: ({ state }) => (state.data?.completed === false ? BUSY_MS : false),
  })
  return (
    <Section
      title="Sandbox"
      actions={
        <ApiAct
          needs="workspace::delete"
          className="danger"
          question="Delete all data of this sandbox? Products, orders, customers, files and endpoints go; keys and settings stay."
          act={async () => {
            await bodyOf(api.POST('/v1/sandbox/reset', { body: { workspace: id } }))
            await queries.invalidateQueries()
          }}
          done="The sandbox is empty. Its keys go on working."
        >
          Reset the sandbox
        </ApiAct>
      }
    >
      {last.data ? (
        <p className="quiet">
          Last reset at <Time at={last.data.requested_at} />
          {last.data.completed ? '; all of its former data is deleted.' : '; its former data is being deleted.'}
        </p>
      ) : (
        <p className="quiet">A reset deletes all data of the sandbox. Keys and settings stay.</p>
      )}
    </Section>
  )
}
