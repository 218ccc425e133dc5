"""Robot descriptions (URDF): a six-joint arm of the size and the joints of Universal Robots' UR5e, with a gripper, on a
stand or on a base that drives."""

PI = "3.14159265"
HALF = "1.57079633"

# Joint, its child link, and where it is on its parent: xyz and rpy; what the link looks like: radius, length, xyz, rpy.
ARM = [
    ("shoulder_pan_joint", "shoulder_link", "0 0 0.1625", "0 0 0", (0.055, 0.10, "0 0 0", "0 0 0")),
    ("shoulder_lift_joint", "upper_arm_link", "0 0 0", f"{HALF} 0 0", (0.05, 0.36, "-0.2125 0 0.138", f"0 {HALF} 0")),
    ("elbow_joint", "forearm_link", "-0.425 0 0", "0 0 0", (0.045, 0.30, "-0.1961 0 0.007", f"0 {HALF} 0")),
    ("wrist_1_joint", "wrist_1_link", "-0.3922 0 0.1333", "0 0 0", (0.04, 0.07, "0 0 -0.02", "0 0 0")),
    ("wrist_2_joint", "wrist_2_link", "0 -0.0997 0", f"{HALF} 0 0", (0.04, 0.07, "0 0 -0.02", "0 0 0")),
    ("wrist_3_joint", "wrist_3_link", "0 0.0996 0", f"{HALF} {PI} {PI}", (0.035, 0.03, "0 0 -0.02", "0 0 0")),
]
JOINTS = [name for name, *_ in ARM]
FINGER = "finger_joint"
OPEN = 0.04  # m


def shape(of):
    radius, length, xyz, rpy = of
    body = f'<geometry><cylinder radius="{radius}" length="{length}"/></geometry>'
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/>{body}</collision>'


def box(size, xyz="0 0 0"):
    return f'<collision><origin xyz="{xyz}"/><geometry><box size="{size}"/></geometry></collision>'


def fixed(name, parent, child, xyz="0 0 0", rpy="0 0 0"):
    return (
        f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/></joint>'
    )


def arm(stand):
    """The arm from a link that it stands on, with its gripper."""
    parts = [
        f'<link name="arm_base_link">{shape((0.075, 0.09, "0 0 0.055", "0 0 0"))}</link>',
    ]
    parts += [
        stand,
        '<link name="base_link_inertia"/>',
        fixed("turned", "arm_base_link", "base_link_inertia", rpy=f"0 0 {PI}"),
    ]
    parent = "base_link_inertia"
    for name, child, xyz, rpy, looks in ARM:
        reach = PI if name == "elbow_joint" else "6.2831853"
        parts.append(
            f'<link name="{child}">{shape(looks)}</link><joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
            f'<limit lower="-{reach}" upper="{reach}" effort="150" velocity="{PI}"/></joint>'
        )
        parent = child
    parts += [
        '<link name="flange"/><link name="tool0"/>',
        fixed("wrist_3_flange", "wrist_3_link", "flange", rpy=f"0 -{HALF} -{HALF}"),
        fixed("flange_tool0", "flange", "tool0", rpy=f"{HALF} 0 {HALF}"),
        f'<link name="gripper_link">{box("0.10 0.06 0.05", "0 0 0.035")}</link>',
        fixed("gripper", "tool0", "gripper_link"),
        f'<link name="left_finger">{box("0.01 0.02 0.04", "0 0 0.09")}</link>',
        f'<joint name="{FINGER}" type="prismatic"><parent link="gripper_link"/><child link="left_finger"/>'
        f'<axis xyz="1 0 0"/><limit lower="0" upper="{OPEN}" effort="40" velocity="0.1"/></joint>',
    ]
    return "".join(parts)


def standing():
    """An arm that stands where it is: its base_link is the room."""
    stand = fixed("stand", "base_link", "arm_base_link")
    return f'<robot name="six_joint_arm"><link name="base_link"/>{arm(stand)}</robot>'


def driving():
    """The same arm on a base with two wheels."""
    wheels = "".join(
        f'<link name="{side}_wheel"><collision><origin rpy="{HALF} 0 0"/>'
        '<geometry><cylinder radius="0.08" length="0.03"/></geometry></collision></link>'
        f'<joint name="{side}_wheel_joint" type="continuous"><parent link="base_link"/><child link="{side}_wheel"/>'
        f'<origin xyz="0 {y} 0.08"/><axis xyz="0 1 0"/></joint>'
        for side, y in (("left", 0.2), ("right", -0.2))
    )
    stand = fixed("stand", "base_link", "arm_base_link", xyz="0 0 0.3")
    body = box("0.44 0.36 0.2", "0 0 0.18")
    return f'<robot name="mobile_arm"><link name="base_link">{body}</link>{wheels}{arm(stand)}</robot>'
