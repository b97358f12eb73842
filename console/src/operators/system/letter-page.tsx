import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Act } from '../../parts/action.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Id, Json, Long, Time } from '../../parts/text.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'
import { useReplay } from './replay.ts'

/** One dead letter with its contents. The audit log has who has read it. */
export function LetterPage() {
  const { consumer, letter: id } = useParams({ from: '/operators/system/dead-letters/$consumer/$letter' })
  const replay = useReplay(consumer)
  const found = useQuery({
    queryKey: ['operators', 'dead-letter', id],
    queryFn: () => bodyOf(admin.GET('/admin/v1/dead-letters/{id}', { params: { path: { id } } })),
    // Each read is in the audit log.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Page
      title={found.data?.type ?? 'Dead letter'}
      above={
        <Link to="/operators/system/dead-letters/$consumer" params={{ consumer }}>
          {consumer}
        </Link>
      }
      actions={
        <Act isBusy={replay.isPending} onAct={() => replay.mutate([id])}>
          Replay
        </Act>
      }
      of={found}
    >
      {({ at, reason, topic, partition, offset, key, workspace, headers, payload }) => (
        <>
          <Section title="Dead letter">
            <Facts
              of={{
                Reason: <Long text={reason} />,
                At: <Time at={at} />,
                Topic: `${topic}, partition ${partition}, offset ${offset}`,
                Key: key && <Id id={key} />,
                Workspace: workspace && <WorkspaceLink id={workspace} />,
              }}
            />
          </Section>
          <Section title="Contents">
            <Json value={payload} />
          </Section>
          <Section title="Headers">
            <Json value={headers} />
          </Section>
        </>
      )}
    </Page>
  )
}
