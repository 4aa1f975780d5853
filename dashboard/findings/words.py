"""The words of findings: titles, sentences, advice, and names of what was seen.

By key of the rule and name of the sentence: `key.title`, `key.text`, `key.advice`, or
what the rule calls its sentences instead. Names of evidence stand under `seen.`.
"""

from __future__ import annotations

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

FINDINGS: Final[dict[str, str | Promise]] = {
    "shared_client_id.title": _("Two processes share a client id"),
    "shared_client_id.text": _(
        "{processes} connections use the client id {client_id}. Both take the part of "
        "the first of them: those queues are consumed twice, and the part of the "
        "second by nobody."
    ),
    "shared_client_id.broadcasting": _(
        "{processes} connections use the client id {client_id}. They share one offsets "
        "file: what one consumes while the other is away, the other never sees."
    ),
    "shared_client_id.advice": _(
        "Give each process an instance name of its own, or leave it at DEFAULT in a "
        "clustering group. If a client has just lost its network, the old connection "
        "goes within two minutes."
    ),
    "inconsistent_subscriptions.title": _("Members subscribe different tags"),
    "inconsistent_subscriptions.text": _(
        "The members read {topic} with different expressions: {expressions}. The "
        "broker filters for all of them by the newest, {filtered_by}; messages of the "
        "others are dropped, and the commits go past them."
    ),
    "inconsistent_subscriptions.broadcasting": _(
        "The members read {topic} with different expressions: {expressions}. The "
        "broker filters for all of them by the newest, {filtered_by}; a member with "
        "another expression gets none of its own messages."
    ),
    "inconsistent_subscriptions.advice": _(
        "Let all members of the group subscribe alike, or give each expression a group "
        "of its own. While a release with another expression rolls out, messages are "
        "lost until the last member has it."
    ),
    "different_topics.title": _("Members subscribe different topics"),
    "different_topics.text": _(
        "Not all of the {members} members read {topics}. A topic's queues are divided "
        "among all members, so the part of one that does not read it is read by "
        "nobody: now {unread} of the queues. Each heartbeat also removes the topics "
        "that it does not list, and pulls fail in between."
    ),
    "different_topics.broadcasting": _(
        "Not all of the {members} members read {topics}. Each heartbeat removes the "
        "topics that it does not list from the broker's table, and pulls of the others "
        "fail in between."
    ),
    "different_topics.advice": _(
        "Give each set of topics a group of its own, or let every member subscribe all "
        "topics of the group."
    ),
    "mixed_strategies.title": _("Members divide by different strategies"),
    "mixed_strategies.text": _(
        "In use at once: {strategies}. Each member computes its own part, and these do "
        "not fit together: queues are owned twice or by nobody."
    ),
    "mixed_strategies.advice": _(
        "Set the same strategy in all members. While a change rolls out, this lasts "
        "until the last member has it."
    ),
    "lock_expired.title": _("Queues wait for a lock to expire"),
    "lock_expired.gone": _(
        "{holder} is gone and did not release its locks. The broker gives {queues} of "
        "its queues to nobody until the locks expire, 60 s after their last renewal."
    ),
    "lock_expired.kept": _(
        "{holder} gave {queues} of its queues up, but the locks were not released. The "
        "broker gives them to nobody until they expire, 60 s after their last renewal."
    ),
    "lock_expired.advice": _(
        "Nothing is to be done: the queues move when the locks expire and the next "
        "member asks again, within 80 s. Members that are stopped and not killed "
        "release their locks at once."
    ),
    "lock_lost.title": _("Held without its lock"),
    "lock_lost.text": _(
        "{member} holds {queues} of its queues without the broker's lock, and does not "
        "consume them until it has the locks again."
    ),
    "lock_lost.advice": _(
        "Look whether the broker was restarted, or another member holds the lock. "
        "Members renew every 20 s; if this stays, restart the member."
    ),
    "unowned_queues.title": _("Queues without an owner"),
    "unowned_queues.text": _(
        "Nobody holds {queues} of the queues; messages waiting there: {lag}. Every "
        "member was asked twice, and none named them."
    ),
    "unowned_queues.lag_unknown": _(
        "Nobody holds {queues} of the queues; how much waits there is not known. Every "
        "member was asked twice, and none named them."
    ),
    "unowned_queues.advice": _(
        "Look whether the expected owner hangs, or runs a strategy that leaves queues "
        "out (CONFIG, machine rooms). Restarting it makes it divide anew."
    ),
    "owned_twice.title": _("Queues owned twice"),
    "owned_twice.text": _(
        "More than one member holds {queues} of the queues, for longer than a "
        "rebalance takes: {owners}. What is in them is consumed twice."
    ),
    "owned_twice.advice": _(
        "The members see different member lists, or divide differently. Look whether "
        "all are connected to all brokers and run one release; a restart of one of the "
        "owners makes it divide anew."
    ),
    "lost_messages.title": _("Messages were removed before they were consumed"),
    "lost_messages.text": _(
        "In {queues} of the queues the commit is below the oldest message the broker "
        "holds. Messages that can no longer be consumed: {messages}."
    ),
    "lost_messages.abandoned": _(
        "Nobody runs this group, and its commits are below the oldest messages the "
        "broker holds. Messages gone: {messages}."
    ),
    "lost_messages.advice": _(
        "Consume faster, or keep messages longer (fileReservedTime of the broker, and "
        "its disk). What is lost can only be sent again."
    ),
    "lost_messages.abandoned_advice": _(
        "If the group is no longer needed, delete it; if it is, it starts at the "
        "oldest message there is."
    ),
    "gone.title": _("All members have left"),
    "gone.text": _(
        "Nobody has been in the group for {gone_ms}, and {lag} messages wait."
    ),
    "gone.advice": _(
        "Start the consumers again. If the group was given up, delete it, and this "
        "goes."
    ),
    "stopped.title": _("A member stopped pulling"),
    "stopped.text": _(
        "{member} has not asked for messages of {queues} of its queues for over a "
        "minute, while {lag} wait there."
    ),
    "stopped.advice": _(
        "Take a stack dump of the member: its pull service hangs or has ended. "
        "Restarting it gives the queues to the others."
    ),
    "rewound.title": _("The commit went back"),
    "rewound.text": _(
        "In {queues} of the queues the commit went back, by {messages} messages in "
        "all, which are consumed again."
    ),
    "rewound.advice": _(
        "If offsets were reset on purpose, all is well. If not, look for a member that "
        "started from an old place or seeks."
    ),
    "stalled.title": _("Consumption stalls"),
    "stalled.text": _(
        "In {queues} of the queues {lag} messages wait and nothing was committed for "
        "{window_ms}, although they have an owner."
    ),
    "stalled.advice": _(
        "Take a stack dump of the owners: a listener hangs, waits for another service, "
        "or works on one message for minutes. Look as well whether the listener is "
        "suspended."
    ),
    "stuck_commit.title": _("One message holds the commit back"),
    "stuck_commit.text": _(
        "{member} has not finished the message at offset {offset} for {held_ms}; "
        "{done} later ones are done with, and none of them can be committed. After a "
        "restart they all come again."
    ),
    "stuck_commit.advice": _(
        "Look in the member's log and stacks for that message. After 15 min it is sent "
        "back for a retry. When the span passes 2,000, the member stops pulling the "
        "queue."
    ),
    "losing_ground.title": _("The lag grows"),
    "losing_ground.text": _(
        "{lag} messages wait, {growth_rate} more each second: more comes in than is "
        "consumed."
    ),
    "losing_ground.advice": _(
        "Add members while there are queues for them, or consume faster (threads, "
        "batches). What-if shows how the queues would be divided."
    ),
    "hot_queue.title": _("One queue holds most of the lag"),
    "hot_queue.more_sent": _(
        "{lag} messages wait in {queue} of {topic}: far more is sent to it than to the "
        "others. More members do not help, for one queue is one member's work."
    ),
    "hot_queue.slower": _(
        "{lag} messages wait in {queue} of {topic}, far more than in the others, "
        "although it is not sent more. Its owner is {owner}."
    ),
    "hot_queue.lags": _(
        "{lag} messages wait in {queue} of {topic}, far more than in the others."
    ),
    "hot_queue.more_sent_advice": _(
        "Look how producers choose the queue: mostly one key has most of the messages. "
        "Split that key, or choose by another."
    ),
    "hot_queue.slower_advice": _(
        "Compare its owner with the other members: host, threads, what its messages "
        "make it do."
    ),
    "dead_letters.title": _("New dead letters"),
    "dead_letters.text": _(
        "Messages given up within the last hour, after all their retries: {messages}. "
        "They are in {topic}, where nobody consumes them."
    ),
    "dead_letters.advice": _(
        "Read some of them and the listener's log of the same time. When the cause is "
        "mended, send them again."
    ),
    "retries.title": _("Many messages come back"),
    "retries.text": _(
        "The listener failed on {messages} messages within {window_ms}. Each comes "
        "again, later each time."
    ),
    "retries.advice": _(
        "Look in the members' logs for what the listener fails on: mostly a service it "
        "calls. What fails sixteen times becomes a dead letter."
    ),
    "flapping.title": _("The group does not come to rest"),
    "flapping.members": _(
        "Within {window_ms} members joined and soon left again {stays} times. Each "
        "change moves queues, and what was in hand is consumed twice."
    ),
    "flapping.queues": _(
        "Within {window_ms} some queues changed hands up to {moves} times although "
        "nobody came or went. Each change makes what was in hand be consumed twice."
    ),
    "flapping.members_advice": _(
        "Look for members that crash and restart, lose their network, or are scaled up "
        "and down."
    ),
    "flapping.queues_advice": _(
        "Look whether all members see the same list of members: all connected to all "
        "brokers, one release, one strategy."
    ),
    "offsets_file_lost.title": _("A member lost its place"),
    "offsets_file_lost.lost": _(
        "{member} came back without its offsets file. By default it starts at the tail "
        "then, and what came while it was away is lost to it. Messages missed at most: "
        "{messages}."
    ),
    "offsets_file_lost.moved": _(
        "{member} took the place of {before} on another host, where there is no "
        "offsets file. By default it starts at the tail then. Messages missed at most: "
        "{messages}."
    ),
    "offsets_file_lost.older": _(
        "{member} came back behind where it was, from the backup of its offsets file "
        "or an older copy. Messages it consumes again: {messages}."
    ),
    "offsets_file_lost.advice": _(
        "Keep the directory of the offsets files (.rocketmq_offsets) on a disk that "
        "outlives the process, or let members start at the first offset or a time."
    ),
    "offsets_file_lost.older_advice": _(
        "The file was broken or deleted, or the process was killed before it wrote. "
        "Repeats are harmless where the listener does the same twice."
    ),
    "idle_members.title": _("Members without a queue"),
    "idle_members.too_many": _(
        "Without a queue: {idle} of {members} members. A queue has one owner, and the "
        "largest topic has only {queues}. Who holds nothing stands by."
    ),
    "idle_members.left_out": _(
        "Without a queue: {idle} of {members} members, although the largest topic has "
        "{queues} queues. The strategy leaves them out."
    ),
    "idle_members.too_many_advice": _(
        "Fine as a reserve. To share the work further, give the topic more queues."
    ),
    "idle_members.left_out_advice": _(
        "Look at the strategy's list or rooms (CONFIG, machine rooms), or take one "
        "that divides evenly. What-if shows each."
    ),
    "given_up_topics.title": _("Topics that nobody reads any more"),
    "given_up_topics.text": _(
        "The group has commits of {topics}, which no member subscribes. Its lag counts "
        "what is in them: {lag}."
    ),
    "given_up_topics.advice": _(
        "If they were given up for good, delete the group's offsets of these topics. "
        "If not, look why no member subscribes them."
    ),
    "broadcasting.title": _("Broadcasting: this is not lag"),
    "broadcasting.text": _(
        "Every member consumes everything and keeps its progress in a file of its own. "
        "The broker reports offset 0 for ever, which tools show as a lag of {messages}."
    ),
    "broadcasting.advice": _(
        "Nothing is to be done. How far a member is, only that member knows."
    ),
    "seen.client_id": _("Client id"),
    "seen.connections": _("Connections"),
    "seen.shared_ids": _("Shared client ids"),
    "seen.owned_twice": _("Owned twice"),
    "seen.without_owner": _("Without owner"),
    "seen.topic": _("Topic"),
    "seen.topics": _("Topics"),
    "seen.members_with": _("Members with"),
    "seen.members_reading": _("Members that read"),
    "seen.members_told": _("Members that told"),
    "seen.filtered_by": _("Broker filters by"),
    "seen.queues": _("Queues"),
    "seen.last_owner": _("Last owner"),
    "seen.waiting_ms": _("Waiting for"),
    "seen.free_by_at": _("Free by"),
    "seen.expected_owner": _("Expected owner"),
    "seen.held_by": _("Held by"),
    "seen.unlocked_ms": _("Without lock for"),
    "seen.waiting_messages": _("Messages waiting"),
    "seen.without_owner_ms": _("Without owner for"),
    "seen.held_twice_ms": _("Held twice for"),
    "seen.lost_messages": _("Messages lost"),
    "seen.most_in_one_queue": _("Most in one queue"),
    "seen.last_member_at": _("Last member seen"),
    "seen.not_pulled_ms": _("Last pull ago"),
    "seen.repeated_messages": _("Messages repeated"),
    "seen.went_back_at": _("Went back at"),
    "seen.watched_ms": _("Watched for"),
    "seen.member": _("Member"),
    "seen.blocking_offset": _("Blocking offset"),
    "seen.done_beyond": _("Done beyond it"),
    "seen.in_hand_ms": _("In hand for"),
    "seen.lag": _("Lag"),
    "seen.growth_rate": _("Grows by /s"),
    "seen.in_rate": _("In/s"),
    "seen.out_rate": _("Out/s"),
    "seen.others_mean_lag": _("Mean lag of the others"),
    "seen.others_in_rate": _("In/s of the others"),
    "seen.dead_letters": _("Dead letters in an hour"),
    "seen.dead_letters_ever": _("Dead letters ever"),
    "seen.last_dead_letter_at": _("Last one seen"),
    "seen.sent_back": _("Sent back"),
    "seen.sent_back_rate": _("Sent back /s"),
    "seen.retry_lag": _("Waiting for a retry"),
    "seen.short_stays": _("Short stays"),
    "seen.last_to_leave": _("Last to leave"),
    "seen.most_moves": _("Most moves of a queue"),
    "seen.was": _("Before"),
    "seen.missed_at_most": _("Missed at most"),
    "seen.seen_at": _("Seen at"),
    "seen.members_concerned": _("Members concerned"),
    "seen.idle_members": _("Idle"),
    "seen.members": _("Members"),
    "seen.queues_of_largest_topic": _("Queues of the largest topic"),
    "seen.offsets_at_broker": _("Offsets at the broker"),
    "seen.messages_ever": _("Messages ever sent"),
    "since": _("since {time}"),
    "as_of": _("as of {time}, not checked since"),
    "rules.nothing_one": _("1 other rule found nothing."),
    "rules.nothing_other": _("{n} other rules found nothing."),
    "rules.brokers": _("Not checked, needs {names}"),
    "rules.members": _("Not checked, needs the word of {names}"),
    "rules.not_asked": _("Not checked, the members were not asked"),
    "rules.commits": _("Not checked, a queue with messages was never committed"),
    "rules.time": _("Not checked, the group has to be watched for longer"),
    "rules.failed": _(
        "The rule “{title}” failed, which is a fault of RocketScope: {error}"
    ),
    "show_queues_one": _("Show the queue"),
    "show_queues_other": _("Show {n} queues"),
}

STATES: Final[dict[str, str | Promise]] = {
    "shared_client_id": _("Shared id"),
    "inconsistent_subscriptions": _("Tags differ"),
    "different_topics": _("Topics differ"),
    "mixed_strategies": _("Mixed strategies"),
    "lock_expired": _("Waits for locks"),
    "lock_lost": _("Lock lost"),
    "unowned_queues": _("No owner"),
    "gone": _("Members left"),
    "stopped": _("Stopped"),
    "rewound": _("Went back"),
    "stuck_commit": _("Commit stuck"),
    "losing_ground": _("Falling behind"),
    "hot_queue": _("Hot queue"),
    "dead_letters": _("Dead letters"),
    "retries": _("Retries"),
    "flapping": _("Flapping"),
    "offsets_file_lost": _("Place lost"),
    "idle_members": _("Idle members"),
    "given_up_topics": _("Topics given up"),
    "broadcasting": _("Broadcasting"),
    "lost_messages": _("Lost messages"),
    "owned_twice": _("Owned twice"),
    "stalled": _("Stalled"),
}
"""The worst finding of a group, as short as the list of groups needs it."""
