// The program of the containers on the real node: the pause of each pod, and what a component does there.
module controlplane/workload

go 1.25.0
