import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Act } from '../../parts/action.tsx'
import { Empty } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Filters, Moment } from '../../parts/filters.tsx'
import { List, useChosen, useList } from '../../parts/list.tsx'
import { Page } from '../../parts/page.tsx'
import { Id, Long, Time } from '../../parts/text.tsx'
import { useReplay } from './replay.ts'
import { Runbook } from './runbook.tsx'

/** The records that one consumer could not process, oldest first, and their replay. */
export function ConsumerPage() {
  const { consumer } = useParams({ from: '/operators/system/dead-letters/$consumer' })
  const [chosen, setChosen] = useChosen()
  const replay = useReplay(consumer, () => setChosen(new Set()))
  const letters = useList(['operators', 'dead-letters', consumer], (query) =>
    bodyOf(admin.GET('/admin/v1/consumers/{consumer}/dead-letters', { params: { path: { consumer }, query } })),
  )
  return (
    <Page
      title={consumer}
      above={<Link to="/operators/system">System</Link>}
      actions={
        <>
          <Act disabled={chosen.size === 0} isBusy={replay.isPending} onAct={() => replay.mutate([...chosen])}>
            {chosen.size === 0 ? 'Replay' : `Replay ${chosen.size}`}
          </Act>
          <Act
            isBusy={replay.isPending}
            question="Replay all dead letters of the last week? Remove their cause first."
            onAct={() => replay.mutate(undefined)}
          >
            Replay all
          </Act>
        </>
      }
    >
      <Filters>
        <Moment label="Since" name="since" />
      </Filters>
      <List
        of={letters}
        label="Dead letters"
        chosen={chosen}
        onChoose={setChosen}
        columns={[
          {
            head: 'Type',
            cell: ({ id, type }) => (
              <Link to="/operators/system/dead-letters/$consumer/$letter" params={{ consumer, letter: id }}>
                {type ?? 'unknown'}
              </Link>
            ),
            isShort: true,
          },
          { head: 'At', cell: ({ at }) => <Time at={at} /> },
          { head: 'Reason', cell: ({ reason }) => <Long text={reason} /> },
          { head: 'Topic', cell: ({ topic, partition, offset }) => `${topic} ${partition}/${offset}` },
          { head: 'Key', cell: ({ key }) => (key ? <Id id={key} /> : '–') },
          {
            head: 'State',
            cell: ({ parked, replayed }) => <Badge state={replayed ? 'REPLAYED' : parked ? 'KEY_PARKED' : 'DEAD'} />,
          },
        ]}
        empty={<Empty title="No dead letters" />}
      />
      <Runbook section="dead-letters" />
    </Page>
  )
}
