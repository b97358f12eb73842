import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Act, counted, useAction } from '../../parts/action.tsx'
import { Empty } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { List, useChosen, useList } from '../../parts/list.tsx'
import { Page } from '../../parts/page.tsx'
import { Id, Long, Time } from '../../parts/text.tsx'
import { Runbook } from './runbook.tsx'

type Publisher = 'gateway' | 'catalog' | 'collections' | 'orders' | 'imports' | 'apps'

/** The records that a service could not publish, and their resend. */
export function RefusedPage() {
  const params = useParams({ from: '/operators/system/outbox/$service' })
  // The API refuses others.
  const service = params.service as Publisher
  const [chosen, setChosen] = useChosen()
  const refused = useList(['operators', 'outbox', service], (query) =>
    bodyOf(admin.GET('/admin/v1/outbox/{service}/refused', { params: { path: { service }, query } })),
  )
  const resend = useAction(
    (ids: readonly string[] | undefined) =>
      bodyOf(
        admin.POST('/admin/v1/outbox/{service}/resend', {
          params: { path: { service } },
          body: ids ? { ids: [...ids] } : {},
        }),
      ),
    {
      done: ({ resent }) => `${counted(resent, 'record is', 'records are')} published again.`,
      changes: ['operators'],
      onDone: () => setChosen(new Set()),
    },
  )
  return (
    <Page
      title={`Refused records of ${service}`}
      above={<Link to="/operators/system">System</Link>}
      actions={
        <>
          <Act
            disabled={chosen.size === 0}
            isBusy={resend.isPending}
            question="Publish these records? Of those that a later record has overtaken, an old state replaces a newer one."
            onAct={() => resend.mutate([...chosen])}
          >
            {chosen.size === 0 ? 'Resend' : `Resend ${chosen.size}`}
          </Act>
          <Act
            isBusy={resend.isPending}
            question="Publish all refused records that no later one has overtaken?"
            onAct={() => resend.mutate(undefined)}
          >
            Resend all
          </Act>
        </>
      }
    >
      <List
        of={refused}
        label="Refused records"
        chosen={chosen}
        onChoose={setChosen}
        columns={[
          { head: 'Type', cell: ({ type }) => type },
          { head: 'At', cell: ({ at }) => <Time at={at} /> },
          { head: 'Reason', cell: ({ reason }) => <Long text={reason} /> },
          { head: 'Topic', cell: ({ topic }) => topic },
          { head: 'Key', cell: ({ key }) => <Id id={key} /> },
          { head: 'Workspace', cell: ({ workspace }) => <Id id={workspace} /> },
          { head: 'State', cell: ({ overtaken }) => <Badge state={overtaken ? 'OVERTAKEN' : 'REFUSED'} /> },
        ]}
        empty={<Empty title="No refused records" />}
      />
      <Runbook section="outbox-rows-refused" />
    </Page>
  )
}
